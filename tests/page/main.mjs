// Drives the page as a person does: node tests/page/main.mjs PRAXIS
import { after, before, describe } from "node:test";
import { access } from "./access.mjs";
import { makeAgents } from "./agents.mjs";
import { branches } from "./branches.mjs";
import { file } from "./file.mjs";
import { inbox } from "./inbox.mjs";
import { large } from "./large.mjs";
import { library } from "./library.mjs";
import { long } from "./long.mjs";
import { people } from "./people.mjs";
import { playground } from "./playground.mjs";
import { runList } from "./run_list.mjs";
import { Rig } from "./rig.mjs";
import { smooth } from "./smooth.mjs";
import { survival } from "./survival.mjs";
import { stream } from "./stream.mjs";
import { views } from "./views.mjs";

// The tests are made before the server runs: they take what it is when they begin.
const rig = {};
describe("the page", { concurrency: false }, () => {
  before(async () => {
    Object.setPrototypeOf(rig, await Rig.start(process.argv[2]));
    makeAgents(rig);
  });
  after(() => rig.end?.());
  views(rig);
  people(rig);
  inbox(rig);
  branches(rig);
  long(rig);
  large(rig);
  smooth(rig);
  stream(rig);
  library(rig);
  playground(rig);
  file(rig);
  runList(rig);
  survival(rig);
  access(rig);
});

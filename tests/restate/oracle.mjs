// Plays random invocations with the official core of Restate's SDKs, and writes each request with the answer that the core
// gives, one line of JSON each, for the test RestateOracle.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, historiesWanted] = process.argv.slice(2);
const core = await import(pathToFileURL(join(modules,
  "@restatedev/restate-sdk/dist/endpoint/handlers/vm/sdk_shared_core_wasm_bindings.js")));
const kCancelHandle = 1; // of the core: the signal that cancels

// ---- a source of choices that is the same each time

let seed = 27;
function choose(below) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

// ---- frames and the few messages that a server writes

const types = { start: 0, input: 0x0400, sleep: 0x040c, run: 0x0411, propose: 5, runDone: 0x8011, sleepDone: 0x800c,
  signal: 0xfbff, setState: 0x0403, clearState: 0x0404 };
const varint = (value) => {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
};
const number = (field, value) => [...varint(field * 8), ...varint(value)];
const bytes = (field, value) => [...varint(field * 8 + 2), ...varint(value.length), ...value];
const text = (value) => [...new TextEncoder().encode(value)];
function frame(type, message) {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(type, 0);
  head.writeUInt32BE(message.length, 4);
  return Buffer.concat([head, Buffer.from(message)]);
}
function* frames(buffer) {
  for (let at = 0; at < buffer.length; ) {
    const length = buffer.readUInt32BE(at + 4);
    yield { type: buffer.readUInt16BE(at), message: buffer.subarray(at + 8, at + 8 + length) };
    at += 8 + length;
  }
}
/// The first field with this number, of the two forms that the core writes.
function field(message, wanted) {
  for (let at = 0; at < message.length; ) {
    const next = () => {
      let value = 0, scale = 1, byte;
      do {
        byte = message[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte & 128);
      return value;
    };
    const tag = next(), value = next();
    const found = tag % 8 === 2 ? message.subarray(at, (at += value)) : value;
    if (Math.floor(tag / 8) === wanted) return found;
  }
  return undefined;
}

// ---- one invocation: the entries that the server holds, and the steps that the program takes

class History {
  constructor(version) {
    this.version = version;
    this.id = Buffer.from(Array.from({ length: 24 }, () => choose(256)));
    this.entries = [frame(types.input, bytes(14, []))];
    this.steps = [];
    this.state = "";
    this.sleep = 0;
    this.signal = 17;
  }
  request() {
    const start = [...bytes(1, this.id), ...bytes(2, text("inv_oracle")), ...number(3, this.entries.length)];
    if (this.state) start.push(...bytes(4, [...bytes(1, text("awakeable")), ...bytes(2, text(this.state))]));
    start.push(...bytes(6, text("key")));
    return Buffer.concat([frame(types.start, start), ...this.entries]);
  }
  /// What the core answers when the program takes `step` after the earlier ones.
  answer(step) {
    return this.play(this.request(), [...this.steps, step]);
  }
  play(request, steps) {
    const type = `application/vnd.restate.invocation.v${this.version}`;
    const vm = new core.WasmVM([new core.WasmHeader("content-type", type)], core.LogLevel.ERROR, 0, false, true, 0);
    vm.notify_input(request);
    vm.notify_input_closed();
    vm.sys_input();
    const memory = { awakeable: null, sleep: null };
    for (const step of steps) take(vm, step, memory);
    const parts = [];
    for (let part = vm.take_output(); part && part.length > 0; part = vm.take_output()) parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  }
  /// The request and the answer of the handler that lets a suspended invocation continue.
  wake() {
    const start = [...bytes(1, this.id), ...number(3, 1),
      ...bytes(4, [...bytes(1, text("awakeable")), ...bytes(2, text(this.state))]), ...bytes(6, text("key"))];
    const request = Buffer.concat([frame(types.start, start), this.entries[0]]);
    return { request, answer: this.play(request, [{ kind: "wake", awakeable: this.state }]) };
  }
  /// The server stores what the answer says; with `loses` the connection was lost before the value of a run.
  store(answer, loses) {
    for (const { type, message } of frames(answer)) {
      if (loses && type === types.propose) return;
      if (type === types.setState) this.state = Buffer.from(field(field(message, 3), 1)).toString();
      if (type === types.clearState) this.state = "";
      if (type === types.sleep) this.sleep = field(message, 11);
      if (type === types.propose)
        this.entries.push(frame(types.runDone,
          [...number(1, field(message, 1)), ...bytes(5, bytes(1, [...(field(message, 14) ?? [])]))]));
      else if (type >= 0x0400) this.entries.push(frame(type, [...message]));
    }
  }
  /// What ends a wait: the signal, the sleep, or both.
  wait() {
    const what = choose(3);
    const signal = () => this.entries.push(frame(types.signal, [...number(2, this.signal++), ...bytes(5, [])]));
    const sleep = () => {
      this.entries.push(frame(types.sleepDone, [...number(1, this.sleep), ...bytes(4, [])]));
      this.sleep = 0;
    };
    if (what !== 1) signal();
    if (what !== 0) sleep();
    return { signal: what !== 1, sleep: what !== 0 };
  }
}

/// Does with the core what Praxis does in a step.
function take(vm, step, memory) {
  if (step.kind === "propose") {
    const run = vm.sys_run("records");
    const handle = typeof run === "object" ? run.handle : run;
    if (!run.replayed) vm.propose_run_completion_success(handle, Buffer.from(step.batch, "hex"));
    progress(vm, { Single: handle });
    if (vm.is_completed(handle)) vm.take_notification(handle);
  }
  if (step.kind === "suspend") {
    if (!memory.awakeable) {
      memory.awakeable = vm.sys_awakeable();
      vm.sys_set_state("awakeable", new TextEncoder().encode(memory.awakeable.id));
    }
    memory.sleep ??= vm.sys_sleep(BigInt(60_000));
    const { awakeable, sleep } = memory;
    progress(vm, { FirstCompleted: [{ Single: sleep }, { Single: awakeable.handle }, { Single: kCancelHandle }] });
    if (step.woken?.signal) {
      vm.take_notification(awakeable.handle);
      memory.awakeable = null;
    }
    if (step.woken?.sleep) {
      vm.take_notification(sleep);
      memory.sleep = null;
    }
  }
  if (step.kind === "wake") vm.sys_complete_awakeable_success(step.awakeable, new Uint8Array());
  if (step.kind === "finish" || step.kind === "wake") {
    if (step.clears) vm.sys_clear_state("awakeable");
    vm.sys_write_output_success(new Uint8Array());
    vm.sys_end();
  }
}

/// Waits as far as the core can; it reports a suspension as an error.
function progress(vm, future) {
  const kSuspended = 599;
  try {
    while (vm.do_progress(future) !== "AnyCompleted") continue;
  } catch (error) {
    if (error.code !== kSuspended) throw error;
  }
}

function report(action, request, answer, batch = "") {
  let until = 0;
  for (const { type, message } of frames(answer)) if (type === types.sleep) until = field(message, 1);
  console.log(JSON.stringify({ action, request: request.toString("hex"), batch, until, answer: answer.toString("hex") }));
}

function nextStep(history, left) {
  if (left === 0) return { kind: "finish", clears: history.state !== "" };
  if (choose(3) === 0) return { kind: "suspend" };
  return { kind: "propose", batch: Buffer.from(Array.from({ length: choose(300) }, () => choose(256))).toString("hex") };
}

for (let done = 0; done < Number(historiesWanted); ++done) {
  const history = new History(5 + (done % 2));
  for (let left = choose(8); left >= 0; --left) {
    const step = nextStep(history, left);
    const request = history.request(), answer = history.answer(step);
    report(step.kind, request, answer, step.batch);
    if (history.state) {
      const woken = history.wake();
      report("wake", woken.request, woken.answer);
    }
    const loses = step.kind === "propose" && choose(5) === 0;
    history.store(answer, loses);
    if (loses) {  // the program takes the step again
      const again = history.answer(step);
      report(step.kind, history.request(), again, step.batch);
      history.store(again);
    }
    if (step.kind === "suspend") step.woken = history.wait();
    history.steps.push(step);
  }
}

// The branches of a run as a tree.
import type { Branch } from "../api/types.ts";

export interface BranchRow {
  branch: Branch;
  depth: number;
}

/** Each run above those that branched off from it, in order of the record and then of time. */
export function branchRows(all: readonly Branch[]): BranchRow[] {
  const known = new Set(all.map((branch) => branch.id));
  const rows: BranchRow[] = [];
  const visit = (branch: Branch, depth: number) => {
    if (rows.some((row) => row.branch.id === branch.id)) return;
    rows.push({ branch, depth });
    const below = all.filter((each) => each.from === branch.id).sort((a, b) => a.at - b.at || (a.created_at < b.created_at ? -1 : 1));
    for (const each of below) visit(each, depth + 1);
  };
  for (const branch of all) if (branch.from === null || !known.has(branch.from)) visit(branch, 0);
  return rows;
}

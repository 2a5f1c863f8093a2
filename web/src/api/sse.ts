// Reads server-sent events from text that comes in pieces.

export interface Sent {
  id?: string;
  event: string;
  data: string;
}

/** Returns a function that takes pieces and calls `take` with each whole event. */
export function reader(take: (sent: Sent) => void): (piece: string) => void {
  let rest = "";
  let next: Sent = { event: "message", data: "" };
  const line = (text: string) => {
    if (text === "") {
      if (next.data !== "") take(next);
      next = { event: "message", data: "" };
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "id") next.id = value;
    if (name === "event") next.event = value;
    if (name === "data") next.data += next.data === "" ? value : "\n" + value;
  };
  return (piece) => {
    rest += piece;
    let begin = 0;
    for (let end = rest.indexOf("\n", begin); end >= 0; end = rest.indexOf("\n", begin)) {
      line(rest.slice(begin, end).replace(/\r$/, ""));
      begin = end + 1;
    }
    rest = rest.slice(begin);
  };
}

/** Orders ids of events, such as "12.1": negative if `a` comes first. */
export function compareIds(a: string, b: string): number {
  const [a0 = 0, a1 = 0] = a.split(".").map(Number);
  const [b0 = 0, b1 = 0] = b.split(".").map(Number);
  return a0 - b0 || a1 - b1;
}

// The name that Restate gives to a public Ed25519 key: `publickeyv1_`, then base58.
const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const rawBytes = 32; // at the end of the DER form

function base58(bytes) {
  let number = BigInt(`0x${bytes.toString("hex")}`), text = "";
  for (; number > 0n; number /= 58n) text = letters[Number(number % 58n)] + text;
  return "1".repeat(Math.max(0, bytes.findIndex((byte) => byte !== 0))) + text;
}

export const nameOf = (key) => `publickeyv1_${base58(key.export({ type: "spki", format: "der" }).subarray(-rawBytes))}`;

/** A protobuf message read without a schema and without the code under test. */

export interface Message {
  /** contents of the length-delimited fields with this number, in order */
  bytes(number: number): Uint8Array[];
}

/** Throws on anything but varints and length-delimited fields. */
export function readMessage(body: Uint8Array): Message {
  const found = new Map<number, Uint8Array[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = body[at++];
      if (byte === undefined) throw new Error("the message ends in a varint");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < body.length) {
    const tag = varint();
    const value = varint();
    if ((tag & 7) === 0) continue;
    if ((tag & 7) !== 2) throw new Error(`wire type ${String(tag & 7)}`);
    if (at + value > body.length) throw new Error("a field ends behind the message");
    const number = tag >> 3;
    found.set(number, [...(found.get(number) ?? []), body.subarray(at, at + value)]);
    at += value;
  }
  return { bytes: (number) => found.get(number) ?? [] };
}

/** A digest that is there at once, for virtual time: 64 hexadecimal digits that depend on every byte. */
import type { Digest } from "../../../../src/core/base/ports";

export const fakeDigest: Digest = (bytes) => {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return Promise.resolve((hash >>> 0).toString(16).padStart(64, "0"));
};

import { describe, expect, it } from "vitest";
import { systemDigest, systemRandom } from "../../../../durable-objects/platform/ports";
import {
  drawToken,
  formatToken,
  hashSecret,
  isOwnToken,
  isSecretOf,
  parseToken,
  sameBytes,
} from "../../../../src/access/authentication/bearer-token";

const ID = "0123456789abcdef0123";
const SECRET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO-A";

describe("own tokens", () => {
  it("a drawn token: is read as it was written", () => {
    for (let i = 0; i < 200; i++) {
      const token = drawToken(systemRandom());
      expect(parseToken(formatToken(token))).toEqual(token);
    }
  });

  it("drawn tokens: differ in id and in secret", () => {
    const drawn = Array.from({ length: 100 }, () => drawToken(systemRandom()));
    expect(new Set(drawn.map(({ id }) => id)).size).toBe(100);
    expect(new Set(drawn.map(({ secret }) => secret)).size).toBe(100);
  });

  it.each([
    ["the form", `sn_${ID}_${SECRET}`, true],
    ["another prefix", `sk_${ID}_${SECRET}`, false],
    ["a prefix in upper case", `SN_${ID}_${SECRET}`, false],
    ["an id in upper case", `sn_${ID.toUpperCase()}_${SECRET}`, false],
    ["a shorter id", `sn_${ID.slice(1)}_${SECRET}`, false],
    ["a longer id", `sn_0${ID}_${SECRET}`, false],
    ["a shorter secret", `sn_${ID}_${SECRET.slice(1)}`, false],
    ["a longer secret", `sn_${ID}_${SECRET}A`, false],
    ["bits behind the 256", `sn_${ID}_${SECRET.slice(0, -1)}B`, false],
    ["padding", `sn_${ID}_${SECRET}=`, false],
    ["base64 of the other alphabet", `sn_${ID}_+${SECRET.slice(1)}`, false],
    ["a line end behind", `sn_${ID}_${SECRET}\n`, false],
    ["a space in front", ` sn_${ID}_${SECRET}`, false],
    ["nothing", "", false],
  ])("a text with %s: is a token or none", (_, text, isToken) => {
    expect(parseToken(text)).toEqual(isToken ? { id: ID, secret: SECRET } : undefined);
  });

  it("a JWT: does not mean to be one of them", () => {
    expect([isOwnToken(`sn_${ID}_wrong`), isOwnToken("eyJhbGciOiJub25lIn0.e30.")]).toEqual([true, false]);
  });
});

describe("hashes of secrets", () => {
  it("a hash: is that of its secret alone, and another one with each salt", async () => {
    const hash = await hashSecret(SECRET, systemRandom(), systemDigest);
    expect(await isSecretOf(hash, SECRET, systemDigest)).toBe(true);
    expect(await isSecretOf(hash, `b${SECRET.slice(1)}`, systemDigest)).toBe(false);
    expect(await isSecretOf({ ...hash, salt: "00".repeat(16) }, SECRET, systemDigest)).toBe(false);
    expect((await hashSecret(SECRET, systemRandom(), systemDigest)).sha256).not.toBe(hash.sha256);
  });

  it.each([
    [[], [], true],
    [[1, 2, 3], [1, 2, 3], true],
    [[1, 2, 3], [1, 2, 4], false],
    [[9, 2, 3], [1, 2, 3], false],
    [[1, 2], [1, 2, 0], false],
  ])("bytes %j and %j: are the same or not", (a, b, same) => {
    expect(sameBytes(Uint8Array.from(a), Uint8Array.from(b))).toBe(same);
  });
});

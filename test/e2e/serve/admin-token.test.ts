/** The token of the administrator of a local server, and what the server knows of it. */
import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { adminTokenIn } from "../../../scripts/serve/admin-token";
import { parseToken } from "../../../src/access/authentication/bearer-token";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const folder = temporaryFolder();
const file = join(folder, "admin-token");
beforeEach(() => removeFolder(file));
afterAll(() => removeFolder(folder));

it("first start: makes a token, which its owner alone reads", async () => {
  const { token, hash } = await adminTokenIn(file);
  const parsed = parseToken(token);
  expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [id, salt = "", sha256] = hash.split(":");
  const salted = createHash("sha256")
    .update(Buffer.from(salt, "hex"))
    .update(parsed?.secret ?? "");
  expect([id, sha256]).toEqual([parsed?.id, salted.digest("hex")]);
});

it("later start: has the same token, with another salt", async () => {
  const [first, second] = [await adminTokenIn(file), await adminTokenIn(file)];
  expect(second.token).toBe(first.token);
  expect(second.hash).not.toBe(first.hash);
});

it.each(["", "sn_short_secret", "nonsense"])("file with %j: gets a new token", async (text) => {
  writeFileSync(file, text);
  const { token } = await adminTokenIn(file);
  expect(parseToken(token)).toBeDefined();
  expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
});

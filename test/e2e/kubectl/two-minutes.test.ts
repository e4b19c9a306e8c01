/** "Two minutes" of README.md, as it stands there: kubectl and curl against `npm start` without options, which speaks HTTPS and asks for a token. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kubectlCommand } from "../../support/clients/kubectl-command";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { serverForTests } from "../../support/server/server-for-tests";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "README.md"), "utf8");
const [, section = ""] = /^## Two minutes\n([^]*?)^## /m.exec(page) ?? [];
const [withKubectl = "", withCurl = ""] = [...section.matchAll(/^```\n([^]*?)^```$/gm)].map(([, text = ""]) => text);

const folder = temporaryFolder();
const server = serverForTests([], { secure: true });

beforeAll(() => {
  for (const name of ["bin", "home"]) mkdirSync(join(folder, name));
  symlinkSync(kubectlCommand(), join(folder, "bin", "kubectl"));
  symlinkSync(server.folder, join(folder, ".servicenet"));
});
afterAll(() => removeFolder(folder));

/** What a shell prints in a folder where the server's data is `.servicenet`. */
function shown(script: string): string {
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, HOME: join(folder, "home") };
  const text = `exec 2>&1\n${script.replaceAll("https://127.0.0.1:8787", server.url)}`;
  return spawnSync("sh", ["-c", text], { cwd: folder, env, encoding: "utf8", timeout: 60_000 }).stdout;
}

it("commands with kubectl: take addresses, refuse a taken one and give one back", () => {
  const text = shown(withKubectl.replace(/^kubectl .*--watch.*$/m, ""));
  expect(text).toMatch(/^service\/hello created\nNAME/);
  expect(text).toMatch(/\nservice\/fixed created\n[^]*provided IP is already allocated\n[^]*"fixed" deleted/);
});

it("commands with curl: answered to the administrator", () => {
  const text = shown(withCurl.replaceAll("curl ", "curl -sS "));
  expect(text).toContain('"gitVersion": "v1.36');
  expect(text).toMatch(/"name":\s*"curled"/);
  expect(text).toMatch(/"kind":\s*"IPAddressList"/);
});

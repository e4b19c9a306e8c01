/** `npm run token -- dev-vars`: what `npx wrangler dev` needs, made once, beside what is there. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { makeDevVars } from "../../../scripts/token/dev-vars";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const all = temporaryFolder();
let project = "";
let made = 0;
beforeEach(() => mkdirSync((project = join(all, String(made++)))));
afterAll(() => removeFolder(all));

const textOf = (...path: string[]) => readFileSync(join(project, ...path), "utf8");

describe("npm run token -- dev-vars", () => {
  it("an empty project: a hash, a token, certificates and a kubeconfig that belong together; for their owner alone", async () => {
    expect(await makeDevVars(project)).toContain("npx wrangler dev --ip 127.0.0.1 --local-protocol https ");
    const token = textOf(".servicenet-dev", "admin-token").trim();
    expect(textOf(".dev.vars")).toMatch(
      new RegExp(`^IMPLICIT_DEFAULT_CLUSTER="true"\nADMIN_TOKEN_HASHES="[^"\n]*${token.split("_")[1] ?? "-"}[^"\n]*"\n$`),
    );
    expect(textOf(".dev.vars")).not.toContain(token);
    const { clusters, users } = parse(textOf(".servicenet-dev", "kubeconfig")) as {
      clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
      users: { user: { token: string } }[];
    };
    expect(clusters[0]?.cluster.server).toBe("https://127.0.0.1:8787");
    expect(Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString()).toBe(
      textOf(".servicenet-dev", "ca.crt"),
    );
    expect(users[0]?.user.token).toBe(token);
    for (const name of [".dev.vars", ".servicenet-dev/admin-token", ".servicenet-dev/server.key", ".servicenet-dev/kubeconfig"])
      expect(statSync(join(project, name)).mode & 0o077, name).toBe(0);
  });

  it("again: nothing changes", async () => {
    await makeDevVars(project);
    const before = [textOf(".dev.vars"), textOf(".servicenet-dev", "admin-token"), textOf(".servicenet-dev", "server.crt")];
    await makeDevVars(project);
    expect([textOf(".dev.vars"), textOf(".servicenet-dev", "admin-token"), textOf(".servicenet-dev", "server.crt")]).toEqual(before);
  });

  it("other variables in .dev.vars: stay", async () => {
    writeFileSync(join(project, ".dev.vars"), "LOG_LEVEL=debug");
    await makeDevVars(project);
    expect(textOf(".dev.vars")).toMatch(/^LOG_LEVEL=debug\nIMPLICIT_DEFAULT_CLUSTER="true"\nADMIN_TOKEN_HASHES="[^"]+"\n$/);
  });

  it.each(["ADMIN_TOKEN_HASHES=other\n", "A=b\n export ADMIN_TOKEN_HASHES = 'other'\n"])("%j: is refused, and stays", async (text) => {
    writeFileSync(join(project, ".dev.vars"), text);
    await expect(makeDevVars(project)).rejects.toThrow(".dev.vars has other ADMIN_TOKEN_HASHES already; remove that line first");
    expect(textOf(".dev.vars")).toBe(text);
  });

  it("a folder of somebody else: is refused, and nothing is made", async () => {
    mkdirSync(join(project, ".servicenet-dev"));
    writeFileSync(join(project, ".servicenet-dev", "notes"), "");
    await expect(makeDevVars(project)).rejects.toThrow(/has files that are not Servicenet's \(notes\)/);
    expect([readdirSync(project), readdirSync(join(project, ".servicenet-dev"))]).toEqual([[".servicenet-dev"], ["notes"]]);
  });
});

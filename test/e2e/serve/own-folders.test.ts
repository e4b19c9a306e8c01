/** Folders with files of somebody else: no command writes into them or deletes from them. Those of earlier releases are taken. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { stateFiles } from "../../../scripts/agent/state-files";
import { assertReplaceable as assertBackupReplaceable } from "../../../scripts/backup/write-file";
import { assertReplaceable } from "../../../scripts/dns/hosts-file";
import { openDataFolder } from "../../../scripts/serve/data-folder";
import { hostsText } from "../../../src/clients/dns/hosts-text";
import { headerLine } from "../../../src/tools/backup/format";
import { runProgramHere } from "../../support/server/program";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

const KUBECONFIG = "apiVersion: v1\ncurrent-context: servicenet\n";
const TOKEN = `sn_${"a".repeat(20)}_${"b".repeat(42)}A\n`;
const ID = "0123456789abcdef".repeat(4);
const OBJECTS = `state/do/servicenet-Coordinator/${ID}.sqlite`;
/** A database with the table of versions, as its bytes have it. */
const TABLES = "SQLite format 3\0 CREATE TABLE _migrations (id INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT";
const LOCK = '{"pid":1,"startedAt":"unknown"}';

let made = 0;
/** A folder with these files; a name with a slash at its end is a folder. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const path = join(folder, String(made++));
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) {
    const file = join(path, name);
    mkdirSync(name.endsWith("/") ? file : dirname(file), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(file, text);
  }
  return path;
}

function contentOf(path: string): Record<string, string> {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file.slice(path.length), entry.isFile() ? readFileSync(file, "utf8") : "folder"];
    }),
  );
}

describe("a data folder", () => {
  it.each<[what: string, files: Readonly<Record<string, string>>, named: string]>([
    ["a state of Terraform", { "main.tf": "", "state/terraform.tfstate": "{}" }, "main.tf and 1 more"],
    ["a state alone", { "state/terraform.tfstate": "{}" }, "state"],
    ["certificates of somebody", { "ca.crt": "x", "ca.key": "x", "server.crt": "x", "server.key": "x" }, "ca.crt and 3 more"],
    ["a copy of a kubeconfig", { kubeconfig: KUBECONFIG, "state/terraform.tfstate": "{}" }, "kubeconfig and 1 more"],
    ["a kubeconfig of another cluster", { kubeconfig: "current-context: prod\n" }, "kubeconfig"],
    ["a state of another Worker", { "state/do/other-Room/1.sqlite": "", "wrangler.toml": "" }, "state and 1 more"],
    ["a hidden file", { ".git/HEAD": "" }, ".git"],
    ["a file of somebody where the runtime has its cache", { "state/cache/precious.db": "x" }, "state"],
    ["a file of somebody beside objects", { "state/do/precious.db": "x" }, "state"],
    ["a file that is called as our folder", { state: "x" }, "state"],
    ["objects of another Worker with a class of this name", { [OBJECTS]: "SQLite format 3\0", "state/kv/": "" }, "state"],
    ["a lock of somebody", { "runner.lock": "", "ca.crt": "x" }, "ca.crt and 1 more"],
    ["a file of somebody below a kubeconfig of ours", { kubeconfig: KUBECONFIG, "state/cache/a/precious.db": "" }, "kubeconfig and 1 more"],
    ["the mark of an agent", { ".servicenet-agent": "", "agent-id": "1" }, ".servicenet-agent and 1 more"],
  ])("%s: refused, with and without --fresh; nothing is changed", async (_, files, named) => {
    const path = folderWith(files);
    const before = contentOf(path);
    const line = `the data folder ${path} has files that are not Servicenet's (${named}); choose an empty or a new folder with --data-dir`;
    for (const fresh of [true, false]) await expect(openDataFolder(path, fresh)).rejects.toThrow(line);
    expect(contentOf(path)).toEqual(before);
  });

  it.each<[what: string, files: Readonly<Record<string, string>>]>([
    ["an empty one", {}],
    ["an empty disk", { "lost+found/": "" }],
    ["state of an earlier release, beside a file of the user", { [OBJECTS]: TABLES, kubeconfig: KUBECONFIG, "notes.txt": "" }],
    ["a copy of the state of an earlier release", { [OBJECTS]: TABLES }],
    ["one whose tables are in the log of writes alone", { [OBJECTS]: "", [`${OBJECTS}-wal`]: "x".repeat((1 << 20) - 50) + TABLES }],
    [
      "a server that kept values and a cache",
      {
        "admin-token": TOKEN,
        [`state/kv/0/blobs/${ID}0`]: "x",
        [`state/kv/miniflare-KVNamespaceObject/${ID}.sqlite-shm`]: "x",
        "state/cache/miniflare-CacheObject/metadata.sqlite": "x",
        "state/workflows/": "",
      },
    ],
    ["a start that failed early", { "state/": "" }],
    ["a start that was killed", { "runner.lock": LOCK, "workerd.json": LOCK, "state/kv/": "", "state/do/": "" }],
    ["a server without HTTPS whose state was removed", { kubeconfig: KUBECONFIG }],
    ["a server whose state was removed", { "admin-token": TOKEN, "ca.crt": "x", "ca.key": "x" }],
  ])("%s: taken, and marked", async (_, files) => {
    const path = folderWith(files);
    const { release } = await openDataFolder(path, false);
    release();
    expect(Object.keys(contentOf(path))).toEqual(
      expect.arrayContaining(
        ["/.servicenet-data", ...Object.keys(files).map((name) => `/${name.replace(/\/$/, "")}`)].filter(
          (name) => !/runner|workerd/.test(name),
        ),
      ),
    );
    writeFileSync(join(path, "notes.txt"), "of the user");
    (await openDataFolder(path, true)).release();
    expect([existsSync(join(path, OBJECTS)), readFileSync(join(path, "notes.txt"), "utf8")]).toEqual([false, "of the user"]);
  });

  describe("--fresh with something of somebody in `state`, in a folder of a server: one line names it; nothing is changed", () => {
    it.each<[what: string, files: Readonly<Record<string, string>>, named: string]>([
      ["an earlier release's folder", { [OBJECTS]: TABLES, "state/terraform.tfstate": "{}" }, "state/terraform.tfstate"],
      ["a folder with the mark", { ".servicenet-data": "", [OBJECTS]: TABLES, "state/cache/precious.db": "x" }, "state/cache/precious.db"],
      ["a file called as our folder", { ".servicenet-data": "", state: "x" }, "state"],
      [
        "objects of another Worker with a class of this name",
        { ".servicenet-data": "", [OBJECTS]: TABLES, [`state/do/chat-Coordinator/${ID}.sqlite`]: "SQLite format 3\0" },
        `state/do/chat-Coordinator/${ID}.sqlite`,
      ],
    ])("%s", async (_, files, named) => {
      const path = folderWith({ ".servicenet-data": "", ...files });
      const before = contentOf(path);
      await expect(openDataFolder(path, true)).rejects.toThrow(
        `the data folder ${path} cannot be used (${named} is not Servicenet's; --fresh removes nothing of somebody else)`,
      );
      expect(contentOf(path)).toEqual(before);
    });

    it.each(["state", "state/do", "state/cache/other", OBJECTS])("%s is a link", async (link) => {
      const other = folderWith({ [`${ID}.sqlite`]: TABLES });
      const path = folderWith({ ".servicenet-data": "", [`${dirname(link)}/`]: "" });
      symlinkSync(link === OBJECTS ? join(other, `${ID}.sqlite`) : other, join(path, link));
      await expect(openDataFolder(path, true)).rejects.toThrow(`(${link} is not Servicenet's; `);
      expect([readlinkSync(join(path, link)).startsWith(other), readdirSync(other)]).toEqual([true, [`${ID}.sqlite`]]);
    });
  });

  it("--fresh with a Worker of another name that has our tables: all of its state goes", async () => {
    const path = folderWith({
      ".servicenet-data": "",
      [`state/do/blue-net-Coordinator/${ID}.sqlite`]: TABLES,
      "state/do/blue-net-NodeProxy/metadata.sqlite": "x",
    });
    (await openDataFolder(path, true)).release();
    expect(contentOf(path)).toEqual({ "/.servicenet-data": "", "/state": "folder" });
  });

  it("npm start --fresh on somebody's folder: one line, exit code 1", async () => {
    const path = folderWith({ "state/terraform.tfstate": "{}" });
    const { code, out, err } = await runProgramHere("serve", ["--fresh", "--port", "0", "--data-dir", path]);
    expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^servicenet: the data folder \S+ has files that are not .*\n$/)]);
    expect(contentOf(path)).toEqual({ "/state": "folder", "/state/terraform.tfstate": "{}" });
  });
});

describe("the state folder of an agent", () => {
  it.each<[what: string, files: Readonly<Record<string, string>>]>([
    ["files of somebody", { "endpoints.json": "[]" }],
    ["a data folder", { ".servicenet-data": "", "admin-token": TOKEN }],
  ])("%s: refused; nothing is changed", (_, files) => {
    const path = folderWith(files);
    expect(() => stateFiles(path)).toThrow(/^the state folder \S+ has files that are not .* with --state$/);
    expect(contentOf(path)).toEqual(files && Object.fromEntries(Object.entries(files).map(([name, text]) => [`/${name}`, text])));
  });

  it("an earlier agent's, and a new one: taken, and marked", () => {
    const earlier = folderWith({ "agent-id": "1\n", "agent-start": "3\n" });
    stateFiles(earlier);
    expect(contentOf(earlier)).toMatchObject({ "/agent-id": "1\n", "/agent-start": "3\n", "/.servicenet-agent": expect.any(String) });
    const copy = join(folder, "copy");
    cpSync(earlier, copy, { recursive: true });
    stateFiles(copy);
    stateFiles(join(folder, "a", "new", "one"));
    expect(readdirSync(join(folder, "a", "new", "one"))).toEqual([".servicenet-agent"]);
  });
});

describe("the file of npm run dns", () => {
  it("hosts of somebody: one line, exit code 1; nothing is changed", async () => {
    const path = folderWith({ hosts: "127.0.0.1 localhost\n" });
    const file = join(path, "hosts");
    const { code, out, err } = await runProgramHere("dns", ["--server", "https://192.0.2.1", "--file", file]);
    expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^dns: --file \S+ was not made by npm run dns; .*\n$/)]);
    expect(contentOf(path)).toEqual({ "/hosts": "127.0.0.1 localhost\n" });
  });

  it("its own, an empty one and none: are taken", () => {
    const path = folderWith({ own: hostsText([], [], { domain: "cluster.local" }), empty: "" });
    for (const name of ["own", "empty", "none"]) assertReplaceable(join(path, name));
    expect(Object.keys(contentOf(path))).toHaveLength(2);
  });
});

describe("the file of npm run backup", () => {
  it("a file of something else: one line, exit code 2; nothing is changed", async () => {
    const path = folderWith({ "kubeconfig.json": '{"format":"v1"}' });
    const file = join(path, "kubeconfig.json");
    const { code, out, err } = await runProgramHere("backup", ["--server", "https://192.0.2.1", "--file", file]);
    expect([code, out, err]).toEqual([2, "", expect.stringMatching(/^backup: --file \S+ is there and no backup; choose another name\n$/)]);
    expect(contentOf(path)).toEqual({ "/kubeconfig.json": '{"format":"v1"}' });
    expect(() => assertBackupReplaceable(path)).toThrow("is there and no backup");
  });

  it("an earlier backup, an empty file and none: are taken", () => {
    const path = folderWith({ own: headerLine({ createdAt: "", server: "", serverVersion: "", heads: {} }), empty: "" });
    for (const name of ["own", "empty", "none"]) assertBackupReplaceable(join(path, name));
    expect(Object.keys(contentOf(path))).toHaveLength(2);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePrivateFolder } from "../../scripts/serve/workerd/private-folder";
import { removeFolder, temporaryFolder } from "../support/server/server";

let data: string;
let record: string;
beforeEach(() => {
  data = temporaryFolder();
  record = join(data, "runtime-folder");
});
afterEach(() => removeFolder(data));

const make = (parents?: string[]) => makePrivateFolder(record, parents ?? [data]);
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("the folder of a run", () => {
  it("for its owner alone, and so are its files; the record names it", () => {
    const folder = make();
    folder.write("config.capnp", "x");
    const path = dirname(folder.file("scheduler"));
    expect(readFileSync(record, "utf8")).toBe(path);
    expect([modeOf(path), modeOf(folder.file("config.capnp")), modeOf(record)]).toEqual(["700", "600", "600"]);
  });

  it("files that were read are removed alone, then everything with the record; twice does nothing", () => {
    const folder = make();
    folder.write("config.capnp", "x");
    folder.write("index.js", "x");
    folder.remove(["config.capnp"]);
    expect(readdirSync(dirname(folder.file("index.js")))).toEqual(["index.js"]);
    folder.remove();
    folder.remove();
    expect(readdirSync(data)).toEqual([]);
  });

  it("of a run that was killed: removed by the next", () => {
    const left = make();
    left.write("config.capnp", "x");
    left.write("scheduler", "x");
    const next = make();
    expect([existsSync(dirname(left.file("scheduler"))), existsSync(dirname(next.file("scheduler")))]).toEqual([false, true]);
  });

  it("a path that is too long for a socket: the next parent is taken", () => {
    const long = join(data, "x".repeat(90));
    mkdirSync(long);
    const short = mkdtempSync("/tmp/servicenet-");
    try {
      expect(dirname(dirname(make([long, short]).file("scheduler")))).toBe(short);
    } finally {
      removeFolder(short);
    }
  });

  it.each<[string, (own: string) => string]>([
    ["names another folder", (own) => own],
    ["names a folder by a relative path", () => "servicenet-run-abcdef"],
    ["is empty", () => ""],
  ])("a record that %s: nothing there is removed", (_, text) => {
    const own = join(data, "own");
    mkdirSync(own);
    writeFileSync(join(own, "index.js"), "mine");
    writeFileSync(record, text(own));
    make();
    expect(readdirSync(own)).toEqual(["index.js"]);
  });

  it("files that are not ours in a folder of that name: stay", () => {
    const own = join(data, "servicenet-run-abcdef");
    mkdirSync(own);
    writeFileSync(join(own, "notes"), "mine");
    writeFileSync(record, own);
    make();
    expect(readdirSync(own)).toEqual(["notes"]);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeSocketFolder, type SocketFolder } from "../../../scripts/serve/workerd/socket-folder";
import { UserError } from "../../../scripts/terminal/user-error";
import { removeFolder, temporaryFolder } from "../../support/server/server";

let data: string;
let record: string;
beforeEach(() => {
  data = temporaryFolder();
  record = join(data, "runtime-folder");
});
afterEach(() => removeFolder(data));

const make = (parents = [data]): SocketFolder => makeSocketFolder(record, parents);
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("the folder of a run's socket", () => {
  it("for its owner alone; the record names it; removed twice: as once", () => {
    const { path, socketPath, remove } = make();
    expect([dirname(socketPath), readFileSync(record, "utf8")]).toEqual([path, path]);
    expect([modeOf(path), modeOf(record)]).toEqual(["700", "600"]);
    writeFileSync(socketPath, "");
    remove();
    remove();
    expect(readdirSync(data)).toEqual([]);
  });

  it("of a run that was killed: removed by the next", () => {
    const left = make();
    writeFileSync(left.socketPath, "");
    const next = make();
    expect([existsSync(left.path), existsSync(next.path)]).toEqual([false, true]);
  });

  it("a path that is too long for a socket, or a folder that is not there: the next parent is taken", () => {
    const long = join(data, "x".repeat(90));
    mkdirSync(long);
    const short = mkdtempSync("/tmp/servicenet-");
    try {
      expect(dirname(make([long, join(short, "nowhere"), short]).path)).toBe(short);
    } finally {
      removeFolder(short);
    }
  });

  it("no parent that will do: an error for the user, and no record", () => {
    expect(() => make([join(data, "nowhere")])).toThrow(UserError);
    expect(() => make([`/${"x".repeat(90)}`])).toThrow(/its path is too long/);
    expect(existsSync(record)).toBe(false);
  });

  it.each<[string, (own: string) => string]>([
    ["names another folder", (own) => own],
    ["names a folder by a relative path", () => "servicenet-run-abcdef"],
    ["is empty", () => ""],
  ])("a record that %s: nothing there is removed", (_, text) => {
    const own = join(data, "own");
    mkdirSync(own);
    writeFileSync(join(own, "scheduler"), "mine");
    writeFileSync(record, text(own));
    make();
    expect(readdirSync(own)).toEqual(["scheduler"]);
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

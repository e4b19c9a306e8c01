import { beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../support/clients/kubectl";
import { event, list, service } from "./objects";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

beforeAll(() => {
  ok("create namespace team");
  const inTeam = { ...event("t1", "Normal", "in the team", { namespace: "team" }), metadata: { name: "t1", namespace: "team" } };
  const objects = [
    service("web"),
    event("w1", "Warning", "web was tested"),
    event("w2", "Normal", "web is fine"),
    event("n1", "Normal", "node is fine", { kind: "Node", namespace: "", name: "n1" }),
    inTeam,
  ];
  ok(`create -f ${kubectl.file("events.json", list(...objects))}`);
});

const messages = (text: string) =>
  text
    .split("\n")
    .slice(1)
    .map((line) => line.split(/ {2,}/).at(-1))
    .sort();

describe("kubectl events", () => {
  it("events of a namespace: listed", () => {
    const rows = ok("events").split("\n");
    expect(rows[0]).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/);
    expect(rows.slice(1).every((row) => /^\S+ \(x2 over \S+\) +(Normal|Warning) +Tested +(Service\/web|Node\/n1) +\w/.test(row))).toBe(
      true,
    );
    expect(messages(rows.join("\n"))).toEqual(["node is fine", "web is fine", "web was tested"]);
  });

  it.each([
    { line: "events -A", seen: ["in the team", "node is fine", "web is fine", "web was tested"] },
    { line: "events -n team", seen: ["in the team"] },
    { line: "events --for service/web", seen: ["web is fine", "web was tested"] },
    { line: "events --for service/web --types=Warning", seen: ["web was tested"] },
    { line: "events --types=Normal,Warning", seen: ["node is fine", "web is fine", "web was tested"] },
  ])("$line: the events of the row", ({ line, seen }) => {
    expect(messages(ok(line))).toEqual(seen);
  });

  it("--for a missing object, and unknown types: reported", () => {
    expect(kubectl.run("events --for service/missing")).toEqual({ code: 0, out: "", err: "No events found in default namespace.\n" });
    expect(refused("events --types=Nope")).toBe("error: valid --types are Normal or Warning");
    expect(refused("events --for nope/web")).toContain('the server doesn\'t have a resource type "nope"');
  });

  it("-o json: an EventList", () => {
    const answer = JSON.parse(ok("events --for service/web --types=Warning -o json")) as { items: object[] };
    expect(answer.items).toMatchObject([{ kind: "Event", type: "Warning", involvedObject: { kind: "Service", name: "web" }, count: 2 }]);
  });

  it("-w: existing events, then new ones", async () => {
    const watch = kubectl.background("events -w --for service/watched");
    const all = kubectl.background("events --watch");
    try {
      await all.until(/web was tested/);
      ok(`create -f ${kubectl.file("late.json", event("late", "Warning", "came later", { name: "watched" }))}`);
      await all.until(/came later/);
      await watch.until(/Warning +Tested +Service\/watched +came later/);
      expect(watch.text()).not.toContain("web was tested");
    } finally {
      watch.stop();
      all.stop();
    }
  });

  it("get events: shows the server's columns", () => {
    expect(table(ok("get events --field-selector type=Warning,involvedObject.name=web"))).toEqual([
      ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"],
      ["AGE", "Warning", "Tested", "service/web", "web was tested"],
    ]);
  });
});

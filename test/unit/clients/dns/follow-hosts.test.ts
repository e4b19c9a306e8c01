import { describe, expect, it } from "vitest";
import { followHosts } from "../../../../src/clients/dns/follow-hosts";
import { aService, aSlice, anEndpoint } from "../../../support/values/endpoint-objects";
import { HeldServer } from "../../../support/worlds/held-server";

const HEADLESS = { clusterIP: "None", clusterIPs: ["None"] };
const DB = "192.0.2.1 192-0-2-1.db.default.svc.x db.default.svc.x";

/** The follower on a clock that the test drives: what waits is done by `due`. */
function follow(server: HeldServer) {
  const waiting = new Set<() => void>();
  const texts: string[][] = [];
  const errors: string[] = [];
  let answers = 0;
  const stop = followHosts({
    fetch: server.fetch,
    clock: {
      now: () => 0,
      after: (_, work) => {
        waiting.add(work);
        return () => waiting.delete(work);
      },
    },
    hosts: { domain: "x" },
    onText: (text) => texts.push(text.trimEnd().split("\n").slice(1)),
    onAnswer: () => answers++,
    onError: ({ message }) => errors.push(message),
  });
  const due = (): void => {
    const works = [...waiting];
    waiting.clear();
    for (const work of works) work();
  };
  return { texts, errors, waiting, due, stop, answers: () => answers };
}

describe("followHosts", () => {
  it("first text: when Services and slices are known", async () => {
    const server = new HeldServer();
    const { texts, waiting, due, answers, stop } = follow(server);
    await server.list("services", [aService("web"), aService("db", HEADLESS)]);
    await expect.poll(answers).toBe(1);
    expect(waiting.size).toBe(0);
    await server.list("endpointslices", [aSlice("db-a", "db", [anEndpoint("192.0.2.1")])]);
    await expect.poll(() => waiting.size).toBe(1);
    due();
    expect(texts).toEqual([["10.96.0.5 web.default.svc.x", DB]]);
    expect(server.asked.filter((path) => !path.includes("watch=true"))).toEqual([
      "/api/v1/services?limit=500",
      "/apis/discovery.k8s.io/v1/endpointslices?limit=500",
    ]);
    stop();
  });

  it("changes: those that come together are one text, those that say nothing new are none", async () => {
    const server = new HeldServer();
    const { texts, waiting, due, answers, stop } = follow(server);
    await server.list("services", [aService("web"), aService("db", HEADLESS)]);
    await server.list("endpointslices", []);
    await expect.poll(() => waiting.size).toBe(1);
    due();
    await server.send("services", "DELETED", aService("web"));
    await server.send("endpointslices", "ADDED", aSlice("db-a", "db", [anEndpoint("192.0.2.1")]));
    await expect.poll(answers).toBe(4);
    expect(waiting.size).toBe(1);
    due();
    await server.send("services", "MODIFIED", aService("db", { ...HEADLESS, selector: { app: "db" } }));
    await expect.poll(() => waiting.size).toBe(1);
    due();
    await server.send("services", "MODIFIED", aService("db", { type: "ExternalName", clusterIP: "", clusterIPs: [] }));
    await expect.poll(() => waiting.size).toBe(1);
    due();
    expect(texts).toEqual([["10.96.0.5 web.default.svc.x"], [DB], []]);
    stop();
  });

  it("refusal: reported, and no text before the list is there", async () => {
    const server = new HeldServer();
    const { texts, errors, waiting, due, stop } = follow(server);
    await server.list("endpointslices", []);
    await server.list("services", [], 403);
    await expect.poll(() => errors.length).toBe(1);
    await expect.poll(() => waiting.size).toBe(1);
    due();
    await server.list("services", [aService("web")]);
    await expect.poll(() => waiting.size).toBe(1);
    due();
    expect(texts).toEqual([["10.96.0.5 web.default.svc.x"]]);
    stop();
  });

  it("stop with a text due: nothing is told any more", async () => {
    const server = new HeldServer();
    const { texts, waiting, due, stop } = follow(server);
    await server.list("services", []);
    await server.list("endpointslices", []);
    await expect.poll(() => waiting.size).toBe(1);
    stop();
    due();
    expect(texts).toEqual([]);
  });
});

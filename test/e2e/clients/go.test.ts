/** client-go against the started server: the programs of test/clients/go. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { conformingDefinitions } from "../../conformance/conventions";
import { Subject } from "../conformance/matrix/subject";
import { Api } from "../../support/clients/api";
import { ClientProgram } from "../../support/clients/client-program";
import { loseHistory } from "../../support/server/lost-history";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../support/server/server";

const PROGRAMS: Readonly<Record<string, string>> = {
  "client-go 0.36": process.env["CLIENTS_GO_036"] ?? "",
  "client-go 0.37": process.env["CLIENTS_GO_037"] ?? "",
};
const SERVICES = "/api/v1/namespaces/default/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const MERGE = "application/merge-patch+json";
/** client-go waits up to a minute before it asks a server again that was away some times within two minutes. */
const BACKOFF_MS_MAX = 120_000;

const data = temporaryFolder();
let server: Server;
const running: ClientProgram[] = [];

beforeAll(async () => {
  server = await startServer(data);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.kill()));
});
afterAll(async () => {
  await server.stop();
  removeFolder(data);
});

interface Start {
  client: string;
  program: string;
  protobuf?: boolean;
  env?: Record<string, string>;
  identity?: string;
}

function start({ client, program, protobuf = false, env = {}, identity = "" }: Start): ClientProgram {
  const args = ["-kubeconfig", server.kubeconfig, `-protobuf=${String(protobuf)}`, "-identity", identity, program];
  const started = new ClientProgram(PROGRAMS[client] ?? "", args, env);
  running.push(started);
  return started;
}

async function send(method: string, path: string, body?: object, type = "application/json"): Promise<KubeObject> {
  const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(server.url + path, init);
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
  return (await response.json()) as KubeObject;
}

/** kill -9 of everything, and a start on the same port and data. */
async function restart(meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  const { port } = new URL(server.url);
  await server.kill();
  await meanwhile();
  server = await startServer(data, ["--port", port]);
}

const contents = [
  { content: "JSON", protobuf: false },
  { content: "protobuf", protobuf: true },
];

describe.each(Object.keys(PROGRAMS))("%s", (client) => {
  describe.each(contents)("in $content", ({ protobuf }) => {
    const run = async (program: string): Promise<Record<string, unknown>> => {
      const started = start({ client, program, protobuf });
      const code = await started.ended;
      expect({ code, problems: started.problems }).toEqual({ code: 0, problems: "" });
      return started.lines[0] ?? {};
    };

    it("metadata client: gets, lists, patches, watches and deletes by metadata", async () => {
      expect(await run("metadata")).toEqual({ listed: 2 });
    });

    it("dynamic client: creates, updates, meets a conflict and deletes a collection", async () => {
      expect(await run("dynamic")).toEqual({ address: expect.stringMatching(/^10\.96\./) as string });
    });

    it("typed apply configurations: own their fields, meet a conflict, take over by force", async () => {
      expect(await run("apply")).toEqual({ managers: 2 });
    });

    it("field validation: Strict refuses an unknown field, Warn warns of it, Ignore is silent", async () => {
      expect(await run("validation")).toEqual({
        strict: expect.stringContaining('unknown field "spec.selectr"') as string,
        warnings: ['unknown field "spec.selectr"'],
      });
    });

    it("pager: reads all pages as of the first one's moment", async () => {
      expect(await run("pager")).toEqual({ seen: 230, pages: 5 });
    });
  });
});

describe.each(contents)("client-go 0.37 in $content", ({ protobuf }) => {
  it("members that 1.36 does not have: dropped, with a warning where they have names", async () => {
    const started = start({ client: "client-go 0.37", program: "newer", protobuf });
    expect([await started.ended, started.problems]).toEqual([0, ""]);
    expect(started.lines).toEqual([{ kept: 0, containers: 1, warnings: protobuf ? 0 : 1 }]);
  });
});

/** What the server has of a type, as the informers print it. */
async function held(path: string): Promise<Record<string, string>> {
  const { items } = await getJson<{ items: KubeObject[] }>(server.url + path);
  return Object.fromEntries(
    items.map(({ metadata }) => [`${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`, metadata?.resourceVersion ?? ""]),
  );
}

describe("shared informers of every served type", () => {
  const kinds = contents.flatMap(({ protobuf }) =>
    ["true", "false"].flatMap((watchList) =>
      Object.keys(PROGRAMS).map((client) => ({ client, protobuf, env: { KUBE_FEATURE_WatchListClient: watchList } })),
    ),
  );
  const subjects = conformingDefinitions.map((definition, i) => new Subject(definition, () => server.url, i));

  /** The types whose cache is not what the server has. */
  async function wrongIn(informer: ClientProgram): Promise<string[]> {
    const caches = await informer.ask("held");
    const types = await Promise.all(
      subjects.map(async (subject) => {
        const wanted = await held(subject.collection().replace(/\/namespaces\/[^/]+/, ""));
        return isDeepStrictEqual(caches[subject.qualified], wanted) ? [] : [subject.qualified];
      }),
    );
    return types.flat();
  }

  /** Every informer holds what the server has. */
  async function agree(informers: readonly ClientProgram[]): Promise<void> {
    for (const informer of informers) await expect.poll(() => wrongIn(informer), { timeout: BACKOFF_MS_MAX, interval: 200 }).toEqual([]);
  }

  it("changes, a kill -9 of the server, slow reading and an expired history: the cache of every type is right again", async () => {
    const informers = kinds.map((kind) => start({ ...kind, program: "informers" }));
    for (const informer of informers) expect(await informer.line(0)).toEqual({ synced: conformingDefinitions.length });

    for (const { definition, namespace } of subjects)
      if (definition.namespaced) await send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const names = new Map<Subject, string>();
    for (const subject of subjects) {
      await subject.create();
      names.set(subject, (await subject.create()).metadata.name);
    }
    for (let i = 0; i < 30; i++) await send("POST", SERVICES, { metadata: { name: `seen-${String(i)}` }, spec: { ports: [{ port: 80 }] } });
    await send("DELETE", `${SERVICES}/seen-0`);
    await agree(informers);

    await restart();
    await send("DELETE", `${SERVICES}/seen-1`);
    for (const [subject, name] of names) await send("DELETE", subject.path(name));
    await agree(informers);

    // Clients that stop reading are cut off, and come back when what they missed is no longer kept.
    const { metadata } = await send("GET", `${SERVICES}/seen-2`);
    for (const informer of informers) informer.signal("SIGSTOP");
    const note = "x".repeat(200_000);
    for (let i = 0; i < 220; i++)
      await send("PATCH", `${SERVICES}/seen-2`, { metadata: { annotations: { note: String(i) + note } } }, MERGE);
    await restart(() => loseHistory(data));
    const since = `${server.url}/api/v1/services?watch=true&timeoutSeconds=1&resourceVersion=${metadata?.resourceVersion ?? ""}`;
    expect(await (await fetch(since)).text()).toContain('"code":410');
    await send("DELETE", `${SERVICES}/seen-3`);
    for (const informer of informers) informer.signal("SIGCONT");
    await agree(informers);
  }, 480_000);
});

/** Who held the Lease, one after the other. */
async function holdersSince(resourceVersion: string): Promise<string[]> {
  const query = { resourceVersion, fieldSelector: "metadata.name=elected", timeoutSeconds: "1" };
  const events = await (await new Api(() => server.url).watch(LEASES, query)).rest();
  return withoutRepeats(events.flatMap(({ object }) => (object.spec?.["holderIdentity"] as string | undefined) ?? []));
}

const withoutRepeats = (names: readonly string[]): string[] => names.filter((name, i) => name !== names[i - 1]);

const clients = Object.keys(PROGRAMS).flatMap((client) => contents.map(({ content, protobuf }) => ({ client, content, protobuf })));

describe.each(clients)("leader election of $client in $content", ({ client, protobuf }) => {
  it("three electors, the leader is killed twice and the server once: one leads at a time, and always one in the end", async () => {
    const { metadata: since } = await getJson<KubeObject>(server.url + LEASES);
    const electors = new Map(["a", "b", "c"].map((identity) => [identity, start({ client, program: "elect", protobuf, identity })]));
    /** the identity of whoever printed last */
    const leader = async (not: string): Promise<string> => {
      let latest: { leads: string; at: number } | undefined;
      await expect
        .poll(
          () => {
            const beats = [...electors.values()].flatMap(({ lines }) => lines.filter(({ leads }) => leads !== undefined).slice(-1));
            latest = (beats as { leads: string; at: number }[]).sort((one, other) => other.at - one.at)[0];
            return latest && latest.leads !== not && Date.now() - latest.at < 1_000;
          },
          { timeout: 30_000, interval: 50 },
        )
        .toBe(true);
      return latest?.leads ?? "";
    };
    const first = await leader("");
    await electors.get(first)?.kill();
    const second = await leader(first);
    await restart();
    const third = await leader("");
    await electors.get(third)?.kill();
    await leader(third);
    // A moment of the last leader, so that an overlap would show.
    await sleep(500);
    const holders = await holdersSince(since?.resourceVersion ?? "");
    const beats = [...electors.entries()].flatMap(([identity, { lines }]) =>
      lines.filter(({ leads }) => leads === identity).map(({ at }) => ({ identity, at: at as number })),
    );
    beats.sort((one, other) => one.at - other.at);
    const spells = withoutRepeats(beats.map(({ identity }) => identity));
    expect(spells.indexOf(second)).toBeGreaterThan(spells.indexOf(first));
    // Each spell is one holder of the Lease, in this order: two leaders at once would alternate, and the Lease does not. One that died, or paused, at
    // once has printed nothing.
    let at = -1;
    for (const spell of spells) {
      at = holders.indexOf(spell, at + 1);
      expect(at, `${spells.join()} of ${holders.join()}`).toBeGreaterThanOrEqual(0);
    }
  }, 120_000);
});

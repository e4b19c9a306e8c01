import { describe, expect, it } from "vitest";
import type { FetchLike } from "../../../../src/api/client/fetch-like";
import { followCollection, type FollowCollectionOptions, type FollowStep } from "../../../../src/api/client/follow-collection";
import type { ConfigMap, Pod } from "../../../../src/api/meta/kubernetes";

const PATH = "/api/v1/configmaps";

interface List {
  status?: number;
  revision?: number;
  names?: string[];
  next?: string;
}

interface Watch {
  status?: number;
  /** the body of a refusal */
  text?: string;
  /** pieces of the body */
  pieces?: string[];
  /** the watch then stays open (until it is aborted), is lost, or ends; "refused": no connection */
  then?: "stays" | "lost" | "ends" | "refused";
}

const object = (name: string, revision: number): ConfigMap => ({ metadata: { name, resourceVersion: String(revision) } });
const event = (type: string, name: string, revision: number) => `${JSON.stringify({ type, object: object(name, revision) })}\n`;
const failure = (code: number, causes: object[] = []) =>
  `${JSON.stringify({ type: "ERROR", object: { code, message: "no", details: { causes } } })}\n`;
const TOO_LARGE = { reason: "ResourceVersionTooLarge", message: "Too large resource version" };

/** An API server that answers from two scripts; the last entry of each answers on and on. */
class ScriptedServer {
  readonly asked: string[] = [];
  #lists = 0;
  #watches = 0;

  constructor(
    private readonly lists: readonly List[],
    private readonly watches: readonly Watch[],
  ) {}

  readonly fetch: FetchLike = (path, { signal }) => {
    this.asked.push(path);
    if (signal.aborted) return Promise.reject(new Error("aborted"));
    if (!path.includes("watch=true")) {
      const { status = 200, revision = 1, names = [], next } = this.lists[Math.min(this.#lists++, this.lists.length - 1)] ?? {};
      const metadata = { resourceVersion: String(revision), ...(next === undefined ? {} : { continue: next }) };
      const text = JSON.stringify({ metadata, items: names.map((name) => object(name, revision)) });
      return Promise.resolve({ status, text: () => Promise.resolve(text), body: null });
    }
    const {
      status = 200,
      text = "refused",
      pieces = [],
      then = "stays",
    } = this.watches[Math.min(this.#watches++, this.watches.length - 1)] ?? {};
    if (then === "refused") return Promise.reject(new Error("connection refused"));
    async function* body() {
      yield* pieces;
      if (then === "lost") throw new Error("connection reset");
      if (then === "stays") {
        await new Promise((_, reject) => {
          (signal as unknown as EventTarget).addEventListener("abort", () => reject(new Error("aborted")));
        });
      }
    }
    return Promise.resolve({ status, text: () => Promise.resolve(text), body: status === 200 ? body() : null });
  };

  get listPaths(): string[] {
    return this.asked.filter((path) => !path.includes("watch=true"));
  }

  /** resourceVersion of each watch */
  get watchRevisions(): (string | undefined)[] {
    return this.asked.filter((path) => path.includes("watch=true")).map((path) => /resourceVersion=(\d*)/.exec(path)?.[1]);
  }
}

/** A step as short text: `=a,b@1` is a list, `+c -a @3` are changes. */
function textOf(step: FollowStep<ConfigMap>): string {
  const name = (of: ConfigMap) => of.metadata?.name ?? "";
  if (step.kind === "list") return `=${step.objects.map(name).join(",")}@${step.resourceVersion}`;
  const sign = { ADDED: "+", MODIFIED: "~", DELETED: "-" };
  return [...step.changes.map(({ type, object: of }) => sign[type] + name(of)), `@${step.resourceVersion}`].join(" ");
}

/** A follower on a clock that jumps to the next time that it waits for; each look at the clock takes 5 s. */
function follow(server: ScriptedServer, more: Partial<FollowCollectionOptions<ConfigMap>> = {}) {
  const steps: string[] = [];
  const errors: string[] = [];
  const pauses: number[] = [];
  let now = 0;
  const stop = followCollection<ConfigMap>({
    fetch: server.fetch,
    clock: {
      now: () => (now += 5_000),
      after: (ms, work) => {
        pauses.push(ms);
        const timer = setTimeout(work, 1);
        return () => clearTimeout(timer);
      },
    },
    path: PATH,
    onStep: (step) => void steps.push(textOf(step)),
    onError: (error) => errors.push(error.message),
    ...more,
  });
  return { steps, errors, pauses, stop };
}

describe("followCollection", () => {
  it("list, then watches: each goes on from the revision of the last event or bookmark", async () => {
    const server = new ScriptedServer(
      [{ names: ["a", "b"], revision: 3 }],
      [
        { pieces: [event("ADDED", "c", 4) + event("MODIFIED", "a", 5), event("DELETED", "b", 6)], then: "ends" },
        { pieces: [event("BOOKMARK", "", 9)], then: "ends" },
        {},
      ],
    );
    const { steps, errors, pauses, stop } = follow(server);
    await expect.poll(() => server.watchRevisions).toEqual(["3", "6", "9"]);
    expect(steps).toEqual(["=a,b@3", "+c ~a @5", "-b @6", "@9"]);
    expect(server.listPaths).toEqual([PATH]);
    expect([errors, pauses]).toEqual([[], []]);
    stop();
  });

  it("selectors: stand in lists and in watches, encoded", async () => {
    const server = new ScriptedServer([{}], [{}]);
    const { stop } = follow(server, { labelSelector: "!service.kubernetes.io/headless", fieldSelector: "spec.clusterIP!=None" });
    await expect.poll(() => server.watchRevisions).toHaveLength(1);
    const selectors = "labelSelector=!service.kubernetes.io%2Fheadless&fieldSelector=spec.clusterIP!%3DNone";
    expect(server.asked).toEqual([
      `${PATH}?${selectors}`,
      `${PATH}?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=1&${selectors}`,
    ]);
    stop();
  });

  it("list in pages: handed on as one, and watched from the revision of its first page", async () => {
    const server = new ScriptedServer(
      [
        { names: ["a"], revision: 3, next: "x/y" },
        { names: ["b"], revision: 5 },
      ],
      [{}],
    );
    const { steps, stop } = follow(server, { pageSize: 1 });
    await expect.poll(() => server.watchRevisions).toEqual(["3"]);
    expect(server.listPaths).toEqual([`${PATH}?limit=1`, `${PATH}?limit=1&continue=x%2Fy`]);
    expect(steps).toEqual(["=a,b@3"]);
    stop();
  });

  it("page whose snapshot is gone: one page has all at once, without an error or a rest", async () => {
    const server = new ScriptedServer([{ names: ["a"], next: "old" }, { status: 410 }, { names: ["b"], revision: 7 }], [{}]);
    const { steps, errors, pauses, stop } = follow(server, { pageSize: 1 });
    await expect.poll(() => server.watchRevisions).toEqual(["7"]);
    expect(server.listPaths).toEqual([`${PATH}?limit=1`, `${PATH}?limit=1&continue=old`, PATH]);
    expect(steps).toEqual(["=b@7"]);
    expect([errors, pauses]).toEqual([[], []]);
    stop();
  });

  it("list after one whose snapshot was gone: in pages again", async () => {
    const lists = [{ next: "old" }, { status: 410 }, { revision: 7 }, { revision: 8 }];
    const server = new ScriptedServer(lists, [{ status: 410 }, {}]);
    const { steps, stop } = follow(server, { pageSize: 1 });
    await expect.poll(() => steps).toEqual(["=@7", "=@8"]);
    expect(server.listPaths.at(-1)).toBe(`${PATH}?limit=1`);
    stop();
  });

  it.each<[string, List[]]>([
    ["first page", [{ status: 410 }, {}]],
    ["list in one page", [{ next: "old" }, { status: 410 }, { status: 410 }, {}]],
    ["list that the server pages unasked", [{ next: "old" }, { status: 410 }, { next: "old" }, { status: 410 }, {}]],
  ])("answer 410 to a %s: reported, and the follower lists anew after a rest", async (_, lists) => {
    const server = new ScriptedServer(lists, [{}]);
    const { steps, errors, pauses, stop } = follow(server, { pageSize: 1 });
    await expect.poll(() => steps).toEqual(["=@1"]);
    expect([errors, pauses]).toEqual([[expect.stringContaining("the API server answers 410")], [500]]);
    stop();
  });

  it("integers beyond 2^53 in lists and events: exact", async () => {
    const pod = '{"metadata":{"name":"a"},"spec":{"terminationGracePeriodSeconds":9007199254740993}}';
    const page = { status: 200, text: () => Promise.resolve(`{"metadata":{"resourceVersion":"1"},"items":[${pod}]}`), body: null };
    const server = new ScriptedServer([], [{ pieces: [`{"type":"ADDED","object":${pod}}\n`] }]);
    const seen: unknown[] = [];
    const stop = followCollection<Pod>({
      fetch: (path, init) => (path.includes("watch=true") ? server.fetch(path, init) : Promise.resolve(page)),
      clock: { now: () => 0, after: () => () => undefined },
      path: PATH,
      onStep(step) {
        const objects = step.kind === "list" ? step.objects : step.changes.map(({ object: changed }) => changed);
        for (const { spec } of objects) seen.push(spec?.terminationGracePeriodSeconds);
      },
    });
    await expect.poll(() => seen).toEqual([9007199254740993n, 9007199254740993n]);
    stop();
  });

  it.each<[string, Watch, string]>([
    ["connection lost", { pieces: [event("ADDED", "b", 2)], then: "lost" }, "connection reset"],
    ["connection refused", { then: "refused" }, "connection refused"],
    ["answer 503", { status: 503 }, "the API server answers 503: refused"],
    ["answer 429", { status: 429 }, "the API server answers 429: refused"],
    ["event ERROR 500", { pieces: [failure(500)] }, "the API server answers 500: no"],
    ["event ERROR 504 without a cause", { pieces: [failure(504)] }, "the API server answers 504: no"],
    ["answer 504 of a proxy", { status: 504, text: "<html>" }, "the API server answers 504: <html>"],
    ["answer 504 that is JSON without members", { status: 504, text: "null" }, "the API server answers 504: null"],
  ])("%s: reported, and the watch goes on after a rest without a new list", async (_, fault, error) => {
    const server = new ScriptedServer([{ names: ["a"] }], [fault, { pieces: [event("ADDED", "c", 8)] }]);
    const { steps, errors, pauses, stop } = follow(server);
    await expect.poll(() => steps.at(-1)).toBe("+c @8");
    expect(server.watchRevisions).toEqual(["1", fault.then === "lost" ? "2" : "1"]);
    expect(server.listPaths).toHaveLength(1);
    expect([errors, pauses]).toEqual([[error], [500]]);
    stop();
  });

  it.each<[string, Watch, string[]]>([
    ["answer 410", { status: 410 }, []],
    ["answer 404", { status: 404 }, []],
    ["event ERROR 410", { pieces: [failure(410)] }, []],
    ["answer 504, revision not reached", { status: 504, text: JSON.stringify({ code: 504, details: { causes: [TOO_LARGE] } }) }, []],
    ["event ERROR 504, revision not reached", { pieces: [failure(504, [TOO_LARGE])] }, []],
    ["event ERROR 504 of an older server", { pieces: [failure(504, [{ message: "Too large resource version" }])] }, []],
    ["answer 403", { status: 403 }, ["the API server answers 403: refused"]],
    ["event ERROR 400", { pieces: [failure(400)] }, ["the API server answers 400: no"]],
  ])("%s: the follower lists anew", async (_, fault, expected) => {
    const server = new ScriptedServer([{ names: ["a"] }, { names: ["b"], revision: 7 }], [fault, {}]);
    const { steps, errors, stop } = follow(server);
    await expect.poll(() => server.watchRevisions).toEqual(["1", "7"]);
    expect(steps).toEqual(["=a@1", "=b@7"]);
    expect(errors).toEqual(expected);
    stop();
  });

  it("line that is no JSON: reported, and the follower lists anew", async () => {
    const server = new ScriptedServer([{ names: ["a"] }, { names: ["b"], revision: 7 }], [{ pieces: ["<html>\n"] }, {}]);
    const { steps, errors, stop } = follow(server);
    await expect.poll(() => steps).toEqual(["=a@1", "=b@7"]);
    expect(errors).toHaveLength(1);
    stop();
  });

  it("events before an ERROR in one piece: handed on", async () => {
    const server = new ScriptedServer([{}, { revision: 7 }], [{ pieces: [event("ADDED", "b", 2) + failure(410)] }, {}]);
    const { steps, stop } = follow(server);
    await expect.poll(() => steps).toEqual(["=@1", "+b @2", "=@7"]);
    stop();
  });

  it("step that the consumer cannot take: reported, and listed anew", async () => {
    const server = new ScriptedServer([{}, { revision: 7 }], [{ pieces: [event("ADDED", "b", 2)] }, {}]);
    const taken: string[] = [];
    const { errors, stop } = follow(server, {
      onStep: (step) => {
        taken.push(textOf(step));
        return step.kind === "changes" ? Promise.reject(new Error("no room")) : undefined;
      },
    });
    await expect.poll(() => taken).toEqual(["=@1", "+b @2", "=@7"]);
    expect(errors).toEqual(["no room"]);
    stop();
  });

  it("source of chance: pauses and watches are up to twice as long", async () => {
    const server = new ScriptedServer([{ status: 500 }, { status: 500 }, {}], [{}]);
    const { pauses, stop } = follow(server, { random: { next: () => 0.5 } });
    await expect.poll(() => server.watchRevisions).toHaveLength(1);
    expect(pauses).toEqual([750, 1_500]);
    expect(server.asked.at(-1)).toContain("timeoutSeconds=450");
    stop();
  });

  it("stop in the middle of a step: nothing is called or asked any more", async () => {
    const server = new ScriptedServer([{ names: ["a"] }], [{ pieces: [event("ADDED", "b", 2), event("ADDED", "c", 3)] }]);
    let release: () => void = () => undefined;
    const taken: string[] = [];
    const { errors, pauses, stop } = follow(server, {
      onStep: (step) => {
        taken.push(textOf(step));
        return step.kind === "list" ? undefined : new Promise((resolve) => (release = resolve));
      },
    });
    await expect.poll(() => taken).toEqual(["=a@1", "+b @2"]);
    stop();
    release();
    const turns = () => new Promise((resolve) => setTimeout(resolve));
    for (let turn = 0; turn < 10; turn++) await turns();
    expect(taken).toHaveLength(2);
    expect(server.asked).toHaveLength(2);
    expect([errors, pauses]).toEqual([[], []]);
  });
});

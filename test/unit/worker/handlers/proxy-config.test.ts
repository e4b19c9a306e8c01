/** Polls of proxies whose stores or view are of the release before, do not have the place of the ETag, or do not answer. */
import { afterEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../../durable-objects/platform/ports";
import type { Env } from "../../../../durable-objects/platform/env";
import type { Status } from "../../../../src/api/meta/status";
import type { Waited } from "../../../../src/api/relay/change-watch";
import { err, ok } from "../../../../src/core/base/result";
import { RELAY_FORM, RELAY_HEADER } from "../../../../src/api/store/watch/relay-frames";
import { decodePoll, type Poll, POLL_HEADER, UNSEEN_HEADER } from "../../../../src/endpoints/proxy-config/poll";
import { pageTag } from "../../../../src/endpoints/proxy-config/page-tag";
import { POLL_PAUSE_MS, POLL_WATCHES_MAX } from "../../../../src/worker/http/limits";
import { pollRelay } from "../../../../src/worker/routing/poll-relay";
import { ProxyChanges } from "../../../../src/worker/routing/proxy-changes";
import { send } from "../client";
import { type Answers, fakeEnv, silentSocket } from "../fake-env";

const TAG = pageTag({ services: { incarnation: "a", revision: 5 }, slices: { incarnation: "b", revision: 7 } });
const OLD_TAG = '"3fab12-4-"';
const PAGE = '{"isFull":true,"services":[],"removed":[]}';

const status = (code: number, reason: string): Response =>
  new Response(JSON.stringify({ kind: "Status", status: "Failure", code, reason }), { status: code });
const unchanged = (etag: string): Response => new Response(null, { status: 304, headers: { ETag: etag } });
const page = (): Response => new Response(PAGE, { headers: { ETag: TAG, "Content-Type": "application/json" } });

/** as it is outside of tests */
const { after } = systemClock;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A poll of a minute; answers what the view was asked, and how often the poll has rested, which takes no time here. */
async function polled(
  given: string,
  fetch: Answers["fetch"],
  ...ofView: Response[]
): Promise<{ asked: Poll[]; code: number; rests: number; headers: Headers }> {
  const asked: Poll[] = [];
  let rests = 0;
  vi.spyOn(systemClock, "after").mockImplementation((ms, work) => {
    if (ms === POLL_PAUSE_MS) rests++;
    return after(ms === POLL_PAUSE_MS ? 0 : ms, work);
  });
  const view = {
    fetch: (request: Request) => {
      asked.push(decodePoll(request.headers.get(POLL_HEADER) ?? ""));
      return Promise.resolve(ofView[asked.length - 1] ?? page());
    },
  };
  const PROXY_VIEW = { idFromName: (name: string) => name, get: () => view } as unknown as Env["PROXY_VIEW"];
  const { env } = fakeEnv({ ...(fetch ? { fetch } : {}) }, { PROXY_VIEW });
  const answer = await send("http://h/api/v1/nodes/a/proxy-config?timeoutSeconds=60", { headers: { "If-None-Match": given } }, env);
  await answer.text();
  return { asked, code: answer.status, rests, headers: answer.headers };
}

const NODE = { name: "a" };

it("a view of the release before, which says no place: is asked again each second", async () => {
  const { asked, code, rests } = await polled(OLD_TAG, undefined, unchanged(OLD_TAG));
  expect([asked, code]).toEqual([
    [
      { node: NODE, etag: OLD_TAG },
      { node: NODE, etag: OLD_TAG },
    ],
    200,
  ]);
  expect(rests).toBe(1);
});

it("stores of the release before, which know no such sockets: the view is asked each second", async () => {
  const { asked, code, rests } = await polled(TAG, () => silentSocket({}), unchanged(TAG));
  expect([asked, code]).toEqual([
    [
      { node: NODE, etag: TAG },
      { node: NODE, etag: TAG },
    ],
    200,
  ]);
  expect(rests).toBe(2);
});

it("a history that does not reach back: the view is asked, and reads the stores", async () => {
  const { asked, code } = await polled(TAG, () => status(410, "Expired"));
  expect([asked, code]).toEqual([[{ node: NODE, etag: TAG }], 200]);
});

it("a store that has begun anew: its socket is closed, and the view is asked", async () => {
  let closed = 0;
  const fetch = (): Response => {
    const socket = silentSocket({ [RELAY_HEADER]: RELAY_FORM });
    Object.assign(socket.webSocket ?? {}, { close: () => void closed++ });
    return socket;
  };
  const { asked, code } = await polled(TAG, fetch);
  expect([asked, code, closed]).toEqual([[{ node: NODE, etag: TAG }], 200, 2]);
});

it("a store that does not answer: the view is asked a second later, and its refusal is the answer", async () => {
  const { asked, code, rests } = await polled(TAG, () => status(503, "ServiceUnavailable"), status(503, "ServiceUnavailable"));
  expect([asked, code, rests]).toEqual([[{ node: NODE, etag: TAG }], 503, 1]);
});

it("a change that no node sees: the first poll asks the view, the next one at the same place takes its word", async () => {
  const reached = { services: { incarnation: "a", revision: 5 }, slices: { incarnation: "b", revision: 9 } };
  const later = pageTag(reached);
  vi.spyOn(ProxyChanges, "begin").mockImplementation(() => {
    const told: Waited[] = ["changed", "over"];
    const changes = { next: () => Promise.resolve(told.shift() ?? "over"), takeReached: () => reached, leave: () => undefined };
    return Promise.resolve(ok(changes as unknown as ProxyChanges));
  });
  const unseen = new Response(null, { status: 304, headers: { ETag: later, [UNSEEN_HEADER]: "1" } });
  const first = await polled(TAG, undefined, unseen);
  expect([first.code, first.asked]).toEqual([304, [{ node: NODE, etag: TAG, reached }]]);
  const second = await polled(TAG, undefined);
  expect([second.code, second.asked]).toEqual([304, []]);
  for (const { headers } of [first, second]) expect([headers.get("ETag"), headers.get(UNSEEN_HEADER)]).toEqual([later, null]);
});

it("watches that are refused as too many: the poll is refused, and asks nobody", async () => {
  const refused = status(429, "TooManyRequests");
  const begin = vi.spyOn(pollRelay, "begin").mockResolvedValue(err((await refused.json()) as Status));
  const { asked, code } = await polled(TAG, undefined);
  expect([asked, code]).toEqual([[], 429]);
  expect(begin).toHaveBeenCalledTimes(2);
});

it("as many polls as an isolate takes: the next one is 429, and asks nobody", async () => {
  vi.spyOn(pollRelay, "size", "get").mockReturnValue(POLL_WATCHES_MAX);
  const { asked, code } = await polled(TAG, undefined);
  expect([asked, code]).toEqual([[], 429]);
});

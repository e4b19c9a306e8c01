/**
 * Random paths and headers: nobody gets what he has no right to, however he writes it. A failure prints the seed; `SEED=<n>` runs it again.
 */
import { beforeEach, describe, expect, it } from "vitest";
import type { WordRandom } from "../../../src/core/base/word-random";
import { BEARER_PROTOCOL } from "../../../src/worker/http/read/credentials";
import { ADMIN_TOKEN, AccessWorld } from "../../support/access/access-world";
import { everyPath, METHODS } from "../../support/access/every-request";
import { isRelease } from "../../support/objects/is-release";
import { pick, seededRandom } from "../../support/sim/platform/seeded-random";

const SEED = Number(process.env["SEED"] ?? 20_261_126);
const REQUESTS = isRelease ? 1_500 : 300;
const MUTATIONS_MAX = 3;

const PATHS = everyPath();
/** Behind these a user without rights reads what is no secret: what is served, and what he may. */
const PUBLIC = /^(?:version|api|apis|openapi)(?:\/|$)/;
/** 503 = nothing listens at the Service's healthCheckNodePort, or the node should get no new connections: a name that no Node can have should not */
const NODE_HEALTH = /^\/nodes\/[^/]+\/(?:healthz|services\/[^/]+\/[^/]+)$/;
const PROBE = /^\/(?:clusters\/[a-z0-9][-a-z0-9]*\/)?(?:healthz|livez|readyz)$/;
const PIECES = [
  "%2F",
  "%2f",
  "%2e",
  "%2e%2e",
  ".",
  "..",
  "//",
  ";",
  ";x=1",
  "%00",
  "%",
  "%zz",
  "\u00e9",
  "%C3%A9",
  "\\",
  "%5c",
  "#",
  "%23",
  "?",
  "%3F",
  "&",
  "*",
  ":",
  " ",
  "%20",
];
const SEGMENTS = [
  "..",
  ".",
  "%2e%2e",
  "%2e",
  "healthz",
  "livez",
  "version",
  "api",
  "clusters/blue",
  "clusters/BLUE",
  "clusters",
  "namespaces/default",
  "watch",
  "admin/tokens",
  "check",
  "nodes/n/healthz",
  "proxy",
  "status",
];
const QUERIES = [
  "",
  "",
  "",
  "?watch=0",
  "?timeout=1s",
  "?fieldSelector=metadata.name%3Da",
  "?namespace=x",
  "?pretty",
  "?access_token=x",
  "?/../healthz",
  "?timeout=x",
];

type Mutation = (path: string, random: WordRandom) => string;

function at(path: string, random: WordRandom): number {
  return random.below(path.length + 1);
}

function inSegments(path: string, change: (segments: string[]) => void): string {
  const segments = path.split("/");
  change(segments);
  return segments.join("/");
}

const MUTATIONS: Mutation[] = [
  (path, random) => {
    const place = at(path, random);
    return path.slice(0, place) + pick(random, PIECES) + path.slice(place);
  },
  (path, random) => inSegments(path, (segments) => segments.splice(1 + random.below(segments.length), 0, pick(random, SEGMENTS))),
  (path, random) => inSegments(path, (segments) => segments.splice(1 + random.below(segments.length), 1)),
  (path) => path.replaceAll("/", "//"),
  (path) => `${path}/`,
  (path) => path.toUpperCase(),
  (path, random) => {
    const place = at(path, random);
    return path.slice(0, place) + path.slice(place, place + 1).toUpperCase() + path.slice(place + 1);
  },
  // any character of a path may be written by its number
  (path, random) => {
    const place = 1 + random.below(Math.max(path.length - 1, 1));
    const character = path.charAt(place);
    return character === "" || character === "%"
      ? path
      : `${path.slice(0, place)}%${character.charCodeAt(0).toString(16)}${path.slice(place + 1)}`;
  },
  (path, random) =>
    inSegments(path, (segments) => (segments[1] = `${pick(random, ["healthz", "readyz", "version"])}/../${segments[1] ?? ""}`)),
  (path, random) => `/${pick(random, ["healthz", "livez", "readyz", "api", "openapi/v3"])}/%2e%2e${path}`,
  (path, random) => `/clusters/${pick(random, ["default", "blue", "a%2Fb", "..", "%2e%2e", "", "x".repeat(80)])}${path}`,
];

function mutated(random: WordRandom): string {
  let path = (pick(random, PATHS).split("?", 1)[0] ?? "").replaceAll("?", "");
  for (let left = 1 + random.below(MUTATIONS_MAX); left > 0; left--) path = pick(random, MUTATIONS)(path, random);
  const query = pick(random, QUERIES);
  return `${path.startsWith("/") ? path : `/${path}`}${path.includes("?") || path.includes("#") ? "" : query}`;
}

/** Credentials that name nobody, or an odd form of one. */
const ODD: ((random: WordRandom) => [name: string, value: string][])[] = [
  () => [],
  () => [["Authorization", ""]],
  () => [["Authorization", "Bearer"]],
  () => [["Authorization", "Bearer "]],
  () => [["Authorization", `Bearer  ${ADMIN_TOKEN}`]],
  () => [["Authorization", `Bearer\t${ADMIN_TOKEN}`]],
  () => [["Authorization", `Token ${ADMIN_TOKEN}`]],
  () => [["Authorization", `Basic ${btoa(`admin:${ADMIN_TOKEN}`)}`]],
  () => [["Authorization", ADMIN_TOKEN]],
  () => [["Authorization", `Bearer ${ADMIN_TOKEN.slice(0, -1)}`]],
  () => [["Authorization", `Bearer ${ADMIN_TOKEN}x`]],
  () => [["Authorization", `Bearer ${ADMIN_TOKEN.toUpperCase()}`]],
  () => [["Authorization", `Bearer sn_${"A".repeat(100_000)}`]],
  () => [["Authorization", `Bearer ${"e".repeat(8_000)}.e.y`]],
  () => [
    ["Authorization", "Bearer x"],
    ["Authorization", `Bearer ${ADMIN_TOKEN}`],
  ],
  () => [
    ["Authorization", "Basic x"],
    ["Authorization", `Bearer ${ADMIN_TOKEN}`],
  ],
  () => [["Proxy-Authorization", `Bearer ${ADMIN_TOKEN}`]],
  () => [
    ["X-Remote-User", "admin"],
    ["X-Remote-Group", "system:masters"],
  ],
  () => [["Cookie", `token=${ADMIN_TOKEN}`]],
  () => [["Cf-Access-Jwt-Assertion", ADMIN_TOKEN]],
  () => [["Cf-Access-Authenticated-User-Email", "admin@example.com"]],
  () => [["Sec-WebSocket-Protocol", `${BEARER_PROTOCOL}${btoa(ADMIN_TOKEN)}`]],
  () => [
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Protocol", `${BEARER_PROTOCOL}%%%`],
  ],
  (random) => [
    ["X-Original-URL", pick(random, PATHS)],
    ["X-Rewrite-URL", "/healthz"],
    ["X-HTTP-Method-Override", "GET"],
  ],
  () => [
    ["X-Forwarded-For", "127.0.0.1"],
    ["X-Forwarded-Host", "localhost"],
    ["X-Forwarded-Prefix", "/healthz"],
  ],
  () => [
    ["Impersonate-User", "admin"],
    ["Impersonate-Group", "system:masters"],
  ],
];

const ACTING: Record<string, string>[] = [
  { "Impersonate-User": "admin", "Impersonate-Group": "system:masters" },
  { "impersonate-user": "system:serviceaccount:kube-system:default" },
  { "Impersonate-User": "eve", "Impersonate-Group": "system:masters" },
  { "Impersonate-Group": "system:masters" },
  { "Impersonate-Uid": "0" },
  { "Impersonate-Extra-%73copes": "x" },
  { "Impersonate-User": " ", "Impersonate-Group": "system:masters" },
  { "Impersonate-User": "eve", "Impersonate-Extra-A%": "x", "Impersonate-Uid": "" },
];

/** The path as whoever decodes what can be decoded reads it. */
function decoded(target: string): string {
  const [raw = ""] = target.split(/[?#]/, 1);
  return raw
    .replace(/^\/clusters\/[a-z0-9][-a-z0-9]*(?=\/)/, "")
    .split("/")
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment;
      }
    })
    .join("/");
}

let world: AccessWorld;
beforeEach(async () => (world = await new AccessWorld().begin()));

/** Runs `judge` on random requests; its answer is what is wrong. */
async function fuzz(judge: (method: string, path: string, random: WordRandom) => Promise<string | undefined>): Promise<void> {
  const wrong: string[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const random = seededRandom(SEED + i);
    const [method, path] = [pick(random, [...METHODS, "GET", "GET"]), mutated(random)];
    const problem = await judge(method, path, random);
    if (problem !== undefined) wrong.push(`SEED=${String(SEED + i)} ${method} ${JSON.stringify(path)}: ${problem}`);
  }
  expect(wrong).toEqual([]);
}

describe(`random requests (seed ${String(SEED)})`, () => {
  it("without a credential that counts: 401, but for the probes", async () => {
    await fuzz(async (method, path, random) => {
      const headers = Object.create(null) as Record<string, string>;
      for (const [name, value] of pick(random, ODD)(random)) headers[name] = name in headers ? `${headers[name] ?? ""}, ${value}` : value;
      const { code } = await world.ask(method, path, { token: "", headers });
      const isProbe = PROBE.test(path.split("?", 1)[0] ?? "");
      return code === 401 || (isProbe && [200, 400, 404, 405].includes(code))
        ? undefined
        : `${String(code)} ${JSON.stringify(headers).slice(0, 200)}`;
    });
  });

  it("of a user without rights: 403, but for what is no secret; never 500, whoever asks", async () => {
    const token = await world.tokenOf("eve");
    await fuzz(async (method, path) => {
      const { code } = await world.ask(method, path, { token });
      // Rights are of the path that its escapes stand for, also where nothing answers such a spelling.
      const isPublic = PROBE.test(decoded(path)) || PUBLIC.test(decoded(path).slice(1));
      if (code === 403 || code === 400) return undefined;
      return isPublic && (code < 300 || code === 404 || code === 405 || code === 406) ? undefined : String(code);
    });
  });

  it("of a user without rights who would act as somebody else: 403 or 400", async () => {
    const token = await world.tokenOf("eve");
    await fuzz(async (method, path, random) => {
      const headers = pick(random, ACTING);
      const { code } = await world.ask(method, path, { token, headers });
      if (code === 403 || code === 400 || PROBE.test(path.split("?", 1)[0] ?? "")) return undefined;
      return `${String(code)} ${JSON.stringify(headers)}`;
    });
  });

  it("of an administrator who only reads: never 401, 403 or 5xx", async () => {
    await fuzz(async (_method, path) => {
      // It would never end.
      if (decoded(path).toLowerCase().includes("/watch/")) return undefined;
      const { code } = await world.ask("GET", path);
      if (code === 503 && NODE_HEALTH.test(decoded(path).split("?", 1)[0] ?? "")) return undefined;
      return code === 401 || code === 403 || code >= 500 ? String(code) : undefined;
    });
  });
});

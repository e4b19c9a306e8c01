/** Pages in a real Chromium: a WebSocket watch is open to the server's own origin and to allowed hosts, fetch to the server's own origin alone. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../../../scripts/dev/testing/chromium";
import { openWatches } from "../../../support/server/observe";
import type { Server } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
/** Browsers resolve names below localhost to loopback themselves. */
const ALLOWED_HOST = "pages.localhost";
const ARGS = ["--allowed-host", ALLOWED_HOST];
const server = serverForTests(ARGS);
/** As `npm start` is without options: HTTPS and tokens. */
const secured = serverForTests(ARGS, { secure: true });
let browser: Browser;
let pages: HttpServer;
/** Another server serves one page: at a host that the API server allows, and at one that is foreign to it. */
let allowed: string;
let foreign: string;
let page: Page;

/** Reads the URL of the watch from its own query; its events stand in `heard`, its end in `ended`. */
const WATCHING_PAGE = `<!doctype html><title>watch</title><script>
  const { searchParams } = new URL(location.href);
  window.heard = [];
  const socket = new WebSocket(searchParams.get("watch"), searchParams.getAll("protocol"));
  socket.onopen = () => { window.protocol = socket.protocol; };
  socket.onmessage = ({ data }) => {
    const { type, object } = JSON.parse(data);
    window.heard.push(type + " " + object.metadata.name);
  };
  socket.onclose = ({ code, wasClean }) => { window.ended = { code, wasClean }; };
</script>`;

beforeAll(async () => {
  const command = findChromium();
  if (command === undefined) throw new Error("there is no Chromium; .ci/run installs one");
  browser = await chromium.launch({
    executablePath: execFileSync("which", [command], { encoding: "utf8" }).trim(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
  pages = createServer((_request, response) => response.setHeader("Content-Type", "text/html").end(WATCHING_PAGE));
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  const port = String((pages.address() as AddressInfo).port);
  allowed = `http://${ALLOWED_HOST}:${port}/`;
  foreign = `http://127.0.0.1:${port}/`;
});
afterEach(() => page.close());
afterAll(async () => {
  await browser.close();
  pages.close();
});

async function write(method: "POST" | "DELETE", path: string, body?: unknown): Promise<void> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.ok, await response.text()).toBe(true);
}
const create = (name: string) => write("POST", SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
const remove = (name: string) => write("DELETE", `${SERVICES}/${name}`);

interface Watching {
  protocols?: string[];
  /** where the page is */
  at?: string;
  of?: Server;
}

/** Opens the page of the other server; it watches at once. A browser does not know the CA of a local server. */
async function watchingPage(query: string, { protocols = [], at = allowed, of = server }: Watching = {}): Promise<Page> {
  const parameters = new URLSearchParams({ watch: `${of.url.replace("http", "ws")}${SERVICES}?watch=true&${query}` });
  for (const protocol of protocols) parameters.append("protocol", protocol);
  page = await browser.newPage({ ignoreHTTPSErrors: true });
  await page.goto(`${at}?${parameters.toString()}`);
  return page;
}
const eventually = <T>(read: () => Promise<T>) => expect.poll(read);
const heard = (): Promise<string[]> => page.evaluate("window.heard");
const ended = (): Promise<unknown> => page.evaluate("window.ended");
const watches = () => openWatches(server.url, "services");

describe("page of a foreign origin", () => {
  it("WebSocket watch: the handshake fails, and nothing is watched", async () => {
    await watchingPage("", { at: foreign });
    await eventually(ended).toEqual({ code: 1006, wasClean: false });
    expect([await heard(), await watches()]).toEqual([[], 0]);
  });

  it("fetch: reads nothing and writes nothing", async () => {
    await watchingPage("", { at: foreign });
    const written =
      'fetch(URL, { method: \'POST\', body: \'{"metadata":{"name":"foreign"},"spec":{"ports":[{"port":80}]}}\', mode: \'no-cors\' })';
    const read = "fetch(URL)";
    const told = [read, written].map((call) =>
      page.evaluate(call.replace("URL", `"${server.url}${SERVICES}"`) + ".then(({ status }) => status, (error) => error.name)"),
    );
    // The second one is sent, and its answer is kept from the page.
    expect(await Promise.all(told)).toEqual(["TypeError", "TypeError"]);
    expect((await fetch(`${server.url}${SERVICES}/foreign`)).status).toBe(404);
  });
});

describe("page of an allowed host", () => {
  it("WebSocket watch: existing objects, changes, and a clean end", async () => {
    await create("there");
    await watchingPage("fieldSelector=metadata.name!=kubernetes");
    await eventually(heard).toEqual(["ADDED there"]);
    await create("comes");
    await remove("comes");
    await remove("there");
    await eventually(heard).toEqual(["ADDED there", "ADDED comes", "DELETED comes", "DELETED there"]);
    expect(await ended()).toBeUndefined();
  });

  it("WebSocket watch with a timeout: the subprotocol without the token, and a proper close at the end", async () => {
    await watchingPage("timeoutSeconds=1", { protocols: ["base64url.bearer.authorization.k8s.io.dG9rZW4", "base64.binary.k8s.io"] });
    await eventually(ended).toEqual({ code: 1000, wasClean: true });
    expect(await page.evaluate("window.protocol")).toBe("base64.binary.k8s.io");
  });

  it("WebSocket watch that is not valid: the handshake fails", async () => {
    await watchingPage("resourceVersion=x");
    await eventually(ended).toEqual({ code: 1006, wasClean: false });
  });

  it("a page that is closed: leaves no watch behind", async () => {
    await watchingPage("resourceVersion=0");
    await eventually(watches).toBe(1);
    await page.goto("about:blank");
    await eventually(watches).toBe(0);
  });

  it("graceful stop of the server: the page hears of it and watches again from its revision", async () => {
    await watchingPage("");
    await eventually(heard).toContain("ADDED kubernetes");
    const { port } = new URL(server.url);
    await server.stop();
    await eventually(ended).toEqual({ code: 1000, wasClean: true });
    await server.start(["--port", port, ...ARGS]);
    await page.reload();
    await eventually(heard).toContain("ADDED kubernetes");
  });

  it("fetch: fails without CORS headers", async () => {
    await watchingPage("");
    expect(await page.evaluate(`fetch("${server.url}${SERVICES}").then(() => "answered", (error) => error.name)`)).toBe("TypeError");
  });
});

describe("page of an allowed host, at a server with HTTPS", () => {
  const inProtocol = (token: string): string[] => [
    `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`,
    "base64.binary.k8s.io",
  ];

  it("WebSocket watch with a token as subprotocol: has the token's rights, and the token is in no answer", async () => {
    await watchingPage("", { of: secured, protocols: inProtocol(secured.token) });
    await eventually(heard).toContain("ADDED kubernetes");
    expect(await page.evaluate("window.protocol")).toBe("base64.binary.k8s.io");
  });

  it.each([
    ["none", []],
    ["one that nobody made", inProtocol(`sn_${"0".repeat(20)}_${"A".repeat(43)}`)],
  ])("WebSocket watch with a token that does not do (%s): the handshake fails", async (_, protocols) => {
    await watchingPage("", { of: secured, protocols });
    await eventually(ended).toEqual({ code: 1006, wasClean: false });
    expect(await heard()).toEqual([]);
  });
});

describe("page of the server's own origin", () => {
  it("page: lists, creates, deletes and watches", async () => {
    // The document stands for a page that a proxy serves at the same origin; an answer itself may load nothing.
    page = await browser.newPage({ bypassCSP: true });
    await page.goto(`${server.url}/version`);
    const body = JSON.stringify({ metadata: { name: "by-page" }, spec: { ports: [{ port: 80 }] } });
    const told = await page.evaluate(`(async () => {
      const list = await (await fetch("${SERVICES}")).json();
      const socket = new WebSocket("${SERVICES}?watch=true&resourceVersion=".replace(/^/, location.origin.replace("http", "ws")) + list.metadata.resourceVersion);
      await new Promise((resolve) => (socket.onopen = resolve));
      const heard = [];
      const two = new Promise((resolve) => {
        socket.onmessage = ({ data }) => { if (heard.push(JSON.parse(data).type) === 2) resolve(); };
      });
      const headers = { "Content-Type": "application/json" };
      const created = await fetch("${SERVICES}", { method: "POST", headers, body: ${JSON.stringify(body)} });
      const deleted = await fetch("${SERVICES}/by-page", { method: "DELETE" });
      await two;
      return { kind: list.kind, created: created.status, deleted: deleted.status, heard };
    })()`);
    expect(told).toEqual({ kind: "ServiceList", created: 201, deleted: 200, heard: ["ADDED", "DELETED"] });
  });
});

/** Probes of the agent on real sockets, and lookups of their names; what their results mean is in test/unit/clients/agent/endpoints/run-probe.test.ts. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { boundedLookup } from "../../../scripts/agent/bounded-lookup";
import { probes } from "../../../scripts/agent/probes";

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The answer of a GET of `/a` to a server that does this. */
async function asked(listener: RequestListener, timeoutMs = 20_000) {
  const port = await portOf(createServer(listener));
  return { port, answer: probes.httpGet(`http://127.0.0.1:${String(port)}/a`, { "User-Agent": "kube-probe/1.36" }, timeoutMs) };
}

describe("HTTP probe", () => {
  it("an answer: its status, though the body never ends", async () => {
    let agent: string | undefined;
    const { answer } = await asked((request, response) => {
      agent = request.headers["user-agent"];
      response.writeHead(203).write("endless");
    });
    expect([await answer, agent]).toEqual([{ status: 203 }, "kube-probe/1.36"]);
  });

  it.each<[location: string, url: string, leavesHost: boolean]>([
    ["/b?c=d", "http://127.0.0.1:PORT/b?c=d", false],
    ["https://127.0.0.1/", "https://127.0.0.1/", false],
    ["http://example.com/x", "http://example.com/x", true],
  ])("a redirect to %s: told, not followed", async (location, url, leavesHost) => {
    const { answer, port } = await asked((_, response) => response.writeHead(302, { Location: location }).end());
    expect(await answer).toEqual({ status: 302, redirect: { url: url.replace("PORT", String(port)), leavesHost } });
  });

  it("a redirect to no HTTP URL: rejects", async () => {
    const { answer } = await asked((_, response) => response.writeHead(302, { Location: "ftp://x/" }).end());
    await expect(answer).rejects.toThrow("the answer redirects to ftp://x/");
  });

  it.each([201, 300, 304])("status %i with a Location: it means nothing", async (status) => {
    const { answer } = await asked((_, response) => response.writeHead(status, { Location: "ftp://x/" }).end());
    expect(await answer).toEqual({ status });
  });

  it("no answer in time: rejects", async () => {
    const { answer } = await asked(() => undefined, 100);
    await expect(answer).rejects.toThrow("no answer within 100 ms");
  });
});

describe("TCP probe", () => {
  it("a listener: resolves; nobody: rejects", async () => {
    const server = createTcpServer();
    const port = await portOf(server);
    await probes.tcpConnect("127.0.0.1", port, 20_000);
    server.close();
    await once(server, "close");
    await expect(probes.tcpConnect("127.0.0.1", port, 20_000)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("names of checks", () => {
  it("a name: asked by HTTP and TCP as the system resolves it", async () => {
    const port = await portOf(createServer((_, response) => response.end()));
    expect(await probes.httpGet(`http://localhost:${String(port)}/`, {}, 20_000)).toEqual({ status: 200 });
    await probes.tcpConnect("localhost", port, 20_000);
  });

  it("lookups that hang: two threads at most, however many ask; the others go on when one of the two ends", async () => {
    const begun: string[] = [];
    const answers = new Map<string, (address: string) => void>();
    const lookup = boundedLookup((hostname, _, callback) => {
      begun.push(hostname);
      answers.set(hostname, (address) => callback(null, address, 4));
    });
    const found: string[] = [];
    for (const name of ["hangs", "slow", "hangs", "hangs", "good", "slow"]) {
      lookup(name, { all: false }, (_, address) => found.push(`${name} ${String(address)}`));
    }
    expect(begun).toEqual(["hangs", "slow"]);
    answers.get("slow")?.("192.0.2.1");
    await expect.poll(() => begun).toEqual(["hangs", "slow", "good"]);
    answers.get("good")?.("192.0.2.2");
    await expect.poll(() => found).toEqual(["slow 192.0.2.1", "slow 192.0.2.1", "good 192.0.2.2"]);
    lookup("slow", { all: false }, () => undefined);
    await expect.poll(() => begun).toEqual(["hangs", "slow", "good", "slow"]);
  });
});

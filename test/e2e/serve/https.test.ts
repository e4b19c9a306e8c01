/** `npm start` as it is without options: HTTPS with a CA of its own, and a token. */
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { createGunzip } from "node:zlib";
import { CoreV1Api, KubeConfig, Watch } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { freePort } from "../../support/server/free-port";
import { runProgram } from "../../support/server/program";
import { serverForTests } from "../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const namespace = "default";
const ports = [{ port: 80 }];
const port = await freePort();
const poll = { interval: 20 };

describe("npm start without options", () => {
  const server = serverForTests(["--port", String(port)], { secure: true });

  const client = (): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromFile(server.kubeconfig);
    return config;
  };
  const create = (name: string) =>
    client()
      .makeApiClient(CoreV1Api)
      .createNamespacedService({ namespace, body: { metadata: { name }, spec: { ports } } });
  const credentials = () => ({ ca: server.ca, headers: { Authorization: `Bearer ${server.token}` } });

  it("clusters: are told with the https address", async () => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${server.url}/clusters/default`, credentials(), resolve).on("error", reject).end();
    });
    const text = (await response.toArray()).join("");
    expect(text).toContain(`"url":"${server.url}/clusters/default"`);
  });

  it("ready line and kubeconfig: name the https address", () => {
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(server.output()).toContain(`Servicenet is ready at ${server.url} (`);
    expect(client().getCurrentCluster()).toMatchObject({ server: server.url, skipTLSVerify: false });
    expect(client().getCurrentUser()?.token).toBe(server.token);
  });

  it("no token, or a wrong one: 401, except for probes", async () => {
    const status = async (path: string, headers: Record<string, string> = {}): Promise<number | undefined> => {
      const [response] = (await once(request(`${server.url}${path}`, { ca: server.ca, headers, agent: false }).end(), "response")) as [
        IncomingMessage,
      ];
      response.resume();
      return response.statusCode;
    };
    expect([await status("/version"), await status(SERVICES), await status("/metrics"), await status("/livez")]).toEqual([
      401, 401, 401, 200,
    ]);
    expect(await status("/version", { Authorization: `Bearer ${server.token.slice(0, -1)}` })).toBe(401);
    expect(await status("/version", credentials().headers)).toBe(200);
  });

  it("JavaScript client with the kubeconfig: creates, lists and watches", async () => {
    const names: string[] = [];
    const watching = await new Watch(client()).watch(
      SERVICES,
      {},
      (_, { metadata }: { metadata: { name: string } }) => names.push(metadata.name),
      () => undefined,
    );
    await create("web");
    await expect.poll(() => names, poll).toContain("web");
    watching.abort();
    const { items } = await client().makeApiClient(CoreV1Api).listNamespacedService({ namespace });
    expect(items.map(({ metadata }) => metadata?.name)).toEqual(["kubernetes", "web"]);
  });

  it("watch with Accept-Encoding: gzip: delivers each event at once", async () => {
    const options = credentials();
    const watching = request(`${server.url}${SERVICES}?watch=true`, {
      ...options,
      headers: { ...options.headers, "Accept-Encoding": "gzip" },
    });
    let text = "";
    watching.on("response", (response) => {
      const plain = response.headers["content-encoding"] === "gzip" ? response.pipe(createGunzip()) : response;
      plain.on("data", (piece: Buffer) => (text += piece.toString()));
    });
    watching.on("error", () => undefined).end();
    await expect.poll(() => text, poll).toContain('"web"');
    for (const name of ["gz-1", "gz-2", "gz-3"]) {
      await create(name);
      await expect.poll(() => text, poll).toContain(`"${name}"`);
    }
    watching.destroy();
  });

  it("plain HTTP to the port: no answer, and one line in the log", async () => {
    await expect(fetch(`${server.url.replace("https", "http")}/version`)).rejects.toThrow("fetch failed");
    await expect.poll(() => server.output(), poll).toMatch(/"event":"TLS handshake failed","reason":"HTTP_REQUEST"\}\n/);
    expect(server.output()).not.toContain("stack:");
  });

  it("CONNECT: 500, and the connection ends", async () => {
    const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", ca: server.ca });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.write("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "end");
    expect(text).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n/);
  });

  it.each(["", "\x16\x03\x01\x02"])("half a handshake, %j: rests, and keeps nobody waiting", async (half) => {
    const resting = Array.from({ length: 50 }, () => connectPlain(Number(new URL(server.url).port), "127.0.0.1"));
    const ended: string[] = [];
    try {
      await Promise.all(resting.map((socket) => once(socket, "connect")));
      for (const socket of resting) socket.on("close", () => ended.push("close")).write(half, "latin1");
      for (let asked = 0; asked < 10; asked++) {
        const outgoing = request(`${server.url}/livez`, { ...credentials(), agent: false }).end();
        const [response] = (await once(outgoing, "response")) as [IncomingMessage];
        expect(response.resume().statusCode).toBe(200);
      }
      expect(ended).toEqual([]);
    } finally {
      for (const socket of resting) socket.destroy();
    }
  });

  it("TLS: HTTP/1.1 alone, version 1.2 or newer, a certificate for the names of loopback and no other", async () => {
    const port = Number(new URL(server.url).port);
    const shown = async (servername: string): Promise<{ error: string; protocol: string | null; names: string | undefined }> => {
      const socket = connect({
        host: "127.0.0.1",
        port,
        ca: server.ca,
        servername,
        ALPNProtocols: ["h2", "http/1.1"],
        rejectUnauthorized: false,
      });
      await once(socket, "secureConnect");
      const names = socket.getPeerX509Certificate()?.subjectAltName;
      const { authorized, authorizationError } = socket;
      const error = authorized ? "" : String(authorizationError);
      const protocol = socket.getProtocol();
      expect(socket.alpnProtocol).toBe(false);
      socket.destroy();
      return { error, protocol, names };
    };
    expect(await shown("localhost")).toEqual({
      error: "",
      protocol: "TLSv1.3",
      names: "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    });
    expect((await shown("elsewhere.example")).error).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
    const old = connect({
      host: "127.0.0.1",
      port,
      ca: server.ca,
      minVersion: "TLSv1.1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT:@SECLEVEL=0",
    });
    await expect(once(old, "secureConnect")).rejects.toThrow(/version|alert/i);
  });

  it("files with secrets: readable by their owner alone", () => {
    for (const name of ["admin-token", "ca.key", "server.key", "kubeconfig"])
      expect([name, statSync(join(server.folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(readdirSync(server.folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  it("programs: need the server's address and its files, or its kubeconfig alone", async () => {
    const file = (name: string): string => join(server.folder, name);
    const given = ["--server", server.url, "--ca-file", file("ca.crt"), "--token-file", file("admin-token")];
    expect(await runProgram("check", given)).toMatchObject({ code: 0 });
    expect(await runProgram("check", ["--kubeconfig", server.kubeconfig])).toMatchObject({ code: 0 });
  });

  it("Ctrl-C: watches end as they should; the next start has the same CA, certificate and token", async () => {
    const { ca, token, url } = server;
    const certificate = readFileSync(join(server.folder, "server.crt"), "utf8");
    const watching = request(`${url}${SERVICES}?watch=true`, credentials()).end();
    const [response] = (await once(watching, "response")) as [NodeJS.ReadableStream & { complete: boolean }];
    const ended = once(response.resume(), "end");
    await server.interrupt();
    await ended;
    expect(response.complete).toBe(true);
    await server.start();
    expect([server.ca, server.token, server.url]).toEqual([ca, token, url]);
    expect(readFileSync(join(server.folder, "server.crt"), "utf8")).toBe(certificate);
    const { items } = await client().makeApiClient(CoreV1Api).listNamespacedService({ namespace });
    expect(items.map(({ metadata }) => metadata?.name)).toContain("web");
  });
});

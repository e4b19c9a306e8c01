/** Requests as no client library writes them, by the socket: targets, hosts and framing that HTTP allows or forbids. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { Api } from "../../support/clients/api";
import { serverForTests } from "../../support/server/server-for-tests";

const SECRETS = "/api/v1/namespaces/default/secrets";
const server = serverForTests(["--allowed-host", "My.Name"]);
const api = new Api(() => server.url);

interface Answer {
  code: number;
  head: string;
  body: string;
}

/** Sends the lines of a head, and reads one answer of known length. */
function ask(...lines: string[]): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.setEncoding("latin1");
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.on("data", (chunk: string) => {
      text += chunk;
      const [head = "", body] = text.split("\r\n\r\n", 2);
      if (body === undefined || body.length < Number(/^Content-Length: (\d+)$/im.exec(head)?.[1])) return;
      resolve({ code: Number(head.split(" ")[1]), head, body });
      socket.destroy();
    });
    for (const event of ["error", "close"] as const) socket.on(event, () => reject(new Error(`the connection ended after ${text}`)));
  });
}

describe("the request target", () => {
  it("an absolute one: answered as its path, also in another cluster and with a query", async () => {
    const { host } = new URL(server.url);
    const { code, body } = await ask(`GET http://${host}/version HTTP/1.1`, `Host: ${host}`);
    expect([code, (JSON.parse(body) as { major: string }).major]).toEqual([200, "1"]);
    const inCluster = await ask(`GET http://localhost/clusters/nowhere/api/v1/services?limit=1 HTTP/1.1`, "Host: localhost");
    expect([inCluster.code, inCluster.body]).toEqual([404, expect.stringContaining("nowhere")]);
  });

  it("OPTIONS *: 200 without a body", async () => {
    expect(await ask("OPTIONS * HTTP/1.1", "Host: localhost")).toMatchObject({ code: 200, body: "" });
  });

  it.each(["GET *", "GET version", "GET ?limit=1", "GET ftp://localhost/version"])("%s: 400", async (start) => {
    const answer = await ask(`${start} HTTP/1.1`, "Host: localhost");
    expect(answer).toMatchObject({ code: 400, body: "400 Bad Request: malformed request target" });
    for (const name of ["Audit-ID", "Content-Security-Policy", "Cross-Origin-Resource-Policy", "X-Content-Type-Options"]) {
      expect(answer.head).toMatch(new RegExp(`^${name}: `, "im"));
    }
  });

  it("a target with a query and no path: asks for /, whatever the query looks like", async () => {
    const root = await ask("GET http://localhost/ HTTP/1.1", "Host: localhost");
    const odd = await ask("GET http://localhost?/healthz HTTP/1.1", "Host: localhost");
    expect([odd.code, odd.body]).toEqual([root.code, root.body]);
    expect(odd.body).not.toBe("ok");
  });

  it.each(["#/healthz", "#", "\\healthz", "#@localhost/healthz", ":1:2/healthz", ":x/healthz", "@/healthz#/", "%23/healthz"])(
    "GET http://localhost%s: no probe of the path behind it",
    async (rest) => {
      const { code, body } = await ask(`GET http://localhost${rest} HTTP/1.1`, "Host: localhost");
      expect([code, body]).not.toEqual([200, "ok"]);
      expect([400, 404]).toContain(code);
    },
  );

  it.each(["user:pass@localhost", "localhost:", "localhost:99999", "[::1]:80", ""])(
    "GET http://%s/healthz: answered, as by Go",
    async (host) => {
      expect(await ask(`GET http://${host}/healthz HTTP/1.1`, "Host: localhost")).toMatchObject({ code: 200, body: "ok" });
    },
  );

  it("a user before the host: the host alone is judged", async () => {
    expect((await ask("GET http://localhost@evil.example/healthz HTTP/1.1", "Host: localhost")).code).toBe(403);
    expect((await ask("GET http:///healthz HTTP/1.1", "Host: evil.example")).code).toBe(403);
  });

  it("HTTP/1.0 without a Host: answered", async () => {
    expect(await ask("GET /livez HTTP/1.0")).toMatchObject({ code: 200, body: "ok" });
  });
});

describe("the end of a connection", () => {
  /** Sends one request and waits for the end of its connection: its whole text. A connection that is kept after a later answer ends later. */
  async function untilEnd(head: string[], body = ""): Promise<string> {
    const { hostname, port } = new URL(server.url);
    const [asked, kept] = [connect(Number(port), hostname), connect(Number(port), hostname)];
    let text = "";
    try {
      asked.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
      asked.write(`${head.join("\r\n")}\r\n\r\n${body}`);
      const end = once(asked, "end").then(() => "");
      await once(asked, "data");
      kept.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const keptEnd = once(kept.resume(), "close").then(() => "the kept connection ended first");
      expect(await Promise.race([end, keptEnd])).toBe("");
    } finally {
      for (const socket of [asked, kept]) socket.destroy();
    }
    return text;
  }

  const lengthOf = (text: string) => {
    const [head = "", body = ""] = text.split("\r\n\r\n", 2);
    return [Number(/^Content-Length: (\d+)$/im.exec(head)?.[1]), body.length];
  };

  it.each(["/livez", "/nothing", "/api/v1/services", "/openapi/v3/api/v1"])(
    "GET %s with Connection: close: at once, behind the whole answer",
    async (path) => {
      const [announced, sent] = lengthOf(await untilEnd([`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close"]));
      expect(announced).toBeGreaterThan(0);
      expect(sent).toBe(announced);
    },
  );

  it("a client that takes gzip, with Connection: close: at once, behind the whole answer without gzip", async () => {
    const head = ["GET /openapi/v3/api/v1 HTTP/1.1", "Host: localhost", "Accept-Encoding: gzip", "Connection: close"];
    const text = await untilEnd(head);
    expect(text).not.toMatch(/^Content-Encoding:/im);
    const [announced, sent] = lengthOf(text);
    expect(sent).toBe(announced);
  });

  it("a write with Connection: close: at once, and its work goes on", async () => {
    const service = '{"metadata":{"name":"closed"},"spec":{"ports":[{"port":8080}]}}';
    const head = ["Host: localhost", "Connection: close", "Content-Type: application/json", `Content-Length: ${String(service.length)}`];
    expect(await untilEnd(["POST /api/v1/namespaces/default/services HTTP/1.1", ...head], service)).toMatch(/^HTTP\/1\.1 201/);
    const address = (await api.get("/api/v1/namespaces/default/services/kubernetes")).body.spec?.clusterIP as string;
    const path = `/apis/networking.k8s.io/v1/ipaddresses/${address}`;
    const before = (await api.get(path)).body.metadata?.uid;
    expect(await untilEnd([`DELETE ${path} HTTP/1.1`, "Host: localhost", "Connection: close"])).toMatch(/^HTTP\/1\.1 200/);
    await api.until(async () => {
      const { code, body } = await api.get(path);
      return code === 200 && body.metadata?.uid !== before;
    }, "repair has made the IPAddress again");
  });

  it("HTTP/1.0 without a Host: at once", async () => {
    const [announced, sent] = lengthOf(await untilEnd(["GET /version HTTP/1.0"]));
    expect(sent).toBe(announced);
  });

  it("the log: nothing about closed connections", () => {
    expect(server.output()).not.toMatch(/^stack:|Uncaught exception/m);
  });
});

describe("framing that the runtime refuses", () => {
  it.each([
    ["Content-Length: abc", "invalid Content-Length header value; cl = abc"],
    ["Content-Length: 2, 3", "invalid Content-Length header value; cl = 2, 3"],
    ["Transfer-Encoding: foo", "unknown transfer encoding; te = foo"],
  ])("%s: an error, and one line in the log", async (header, reason) => {
    const { code } = await ask(`POST ${SECRETS} HTTP/1.1`, "Host: localhost", "Content-Type: application/json", header);
    expect(code).toBeGreaterThanOrEqual(400);
    const line = `"level":"warn","event":"malformed request","reason":${JSON.stringify(reason)}`;
    await expect.poll(() => server.output()).toContain(line);
    expect(server.output()).not.toMatch(/^stack:|Uncaught exception/m);
    expect((await api.get("/livez")).text).toBe("ok");
  });
});

describe("what the parser of the runtime decides", () => {
  it.each(["X-A : b", "X-A\t: b"])("a blank before a header's colon, %j: taken, where Go says 400", async (header) => {
    expect(await ask("GET /livez HTTP/1.1", "Host: localhost", header)).toMatchObject({ code: 200, body: "ok" });
  });

  it("a blank before the colon of Host and Content-Length: the headers count as without it", async () => {
    expect((await ask("GET /livez HTTP/1.1", "Host : evil.example")).code).toBe(403);
    const write = ["POST /api/v1/namespaces HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length : 2", "", "{}"];
    expect((await ask(...write)).code).toBe(422);
  });

  it("a header that goes on in the next line: 400, as Go", async () => {
    expect((await ask("GET /livez HTTP/1.1", "Host: localhost", " more")).code).toBe(400);
  });

  it("a tab ends a target", async () => {
    expect(await ask("GET /livez\tz HTTP/1.1", "Host: localhost")).toMatchObject({ code: 200, body: "ok" });
  });

  it.each(["localhost:80", "/livez", "miniflare-unsafe-internal-capnp-connect"])(
    "CONNECT %s: 500, and the connection ends",
    async (target) => {
      expect(await ask(`CONNECT ${target} HTTP/1.1`, "Host: localhost")).toMatchObject({ code: 500, body: "Internal Server Error" });
    },
  );

  it.each(["", "GET /li", "GET /livez HTTP/1.1\r\nHost: localhost\r\n"])(
    "half a head, %j: rests, and keeps nobody waiting",
    async (half) => {
      const { hostname, port } = new URL(server.url);
      const resting = Array.from({ length: 50 }, () => connect(Number(port), hostname));
      const ended: string[] = [];
      try {
        await Promise.all(resting.map((socket) => once(socket, "connect")));
        for (const socket of resting)
          socket
            .on("close", () => ended.push("close"))
            .on("data", () => ended.push("data"))
            .write(half);
        for (let asked = 0; asked < 20; asked++) expect((await ask("GET /livez HTTP/1.1", "Host: localhost")).code).toBe(200);
        expect(ended).toEqual([]);
        // What comes late is read.
        resting[0]?.write(
          half === ""
            ? "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
            : half.endsWith("\n")
              ? "\r\n"
              : "vez HTTP/1.1\r\nHost: localhost\r\n\r\n",
        );
        await expect.poll(() => ended).toContain("data");
      } finally {
        for (const socket of resting) socket.destroy();
      }
    },
  );
});

describe("a server on loopback", () => {
  it.each(["localhost", "LOCALHOST:1", "127.0.0.1", "10.1.2.3:80", "[::1]:8787", "[fe80::1%25eth0]:8787", "my.name", "MY.NAME:443"])(
    "the Host %s: answered",
    async (host) => {
      expect((await ask(`GET ${SECRETS} HTTP/1.1`, `Host: ${host}`)).code).toBe(200);
    },
  );

  it.each(["evil.example", "127.0.0.1.evil.example:8787", "localhost.evil.example", "127.1", "name"])(
    "the Host %s: 403, whatever is asked",
    async (host) => {
      for (const path of ["/livez", "/metrics", SECRETS, "/clusters/one/api/v1/services"]) {
        const { code, body } = await ask(`GET ${path} HTTP/1.1`, `Host: ${host}`);
        expect([code, JSON.parse(body)]).toEqual([
          403,
          expect.objectContaining({
            kind: "Status",
            reason: "Forbidden",
            message: `forbidden: this server answers to addresses, localhost and the names of --allowed-host, not to "${host}"`,
          }),
        ]);
      }
    },
  );

  it("an absolute target: its host counts, not the header", async () => {
    expect((await ask("GET http://evil.example/livez HTTP/1.1", "Host: localhost")).code).toBe(403);
    expect((await ask("GET http://my.name/livez HTTP/1.1", "Host: evil.example")).code).toBe(200);
  });

  it.each(["Host: a b", "Host: localhost\r\nHost: localhost", "Host: localhost/x"])("%j: 400", async (header) => {
    expect(await ask("GET /livez HTTP/1.1", header)).toMatchObject({ code: 400, body: "400 Bad Request: malformed Host header" });
  });

  const handshake = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  ];
  it.each(["http://evil.example", "null", "http://192.0.2.1"])("Secrets for a page of %s: 403, by WebSocket too", async (origin) => {
    const path = `GET ${SECRETS}?watch=true HTTP/1.1`;
    expect((await ask(path, "Host: localhost", `Origin: ${origin}`, ...handshake)).code).toBe(403);
    expect((await ask(`GET ${SECRETS}/s HTTP/1.1`, "Host: localhost", `Origin: ${origin}`)).code).toBe(403);
    expect((await ask("GET /api/v1/services HTTP/1.1", "Host: localhost", `Origin: ${origin}`)).code).toBe(200);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "a %s by a page of elsewhere, as browsers send it unasked: 403, nothing changes",
    async (method) => {
      const write = [
        `${method} /api/v1/namespaces/foreign HTTP/1.1`,
        "Host: localhost",
        "Origin: http://evil.example",
        "Content-Length: 0",
      ] as const;
      expect(await ask(...write)).toMatchObject({
        code: 403,
        body: expect.stringContaining("pages of other origins may neither write nor open WebSockets"),
      });
    },
  );

  it.each(["GET", "OPTIONS"])("a %s by a page of elsewhere: nothing that lets the page read the answer", async (method) => {
    const { head } = await ask(`${method} /api/v1/services HTTP/1.1`, "Host: localhost", "Origin: http://evil.example");
    expect(head).not.toMatch(/^Access-Control-/im);
  });

  it("a write by a page of an allowed name: as without a page", async () => {
    const write = ["DELETE /api/v1/namespaces/absent HTTP/1.1", "Host: localhost", "Content-Length: 0"] as const;
    expect((await ask(...write, "Origin: https://my.name")).code).toBe(404);
    expect((await ask(...write)).code).toBe(404);
  });

  it.each(["http://localhost:3000", "https://my.name"])("Secrets for a page of %s: served", async (origin) => {
    expect((await ask(`GET ${SECRETS} HTTP/1.1`, "Host: localhost", `Origin: ${origin}`)).code).toBe(200);
  });
});

/** The tests of a server's sockets: which there are, and what requests that Miniflare's own sockets obey reach on each. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import { connect, type TcpNetConnectOpts } from "node:net";
import { dirname, join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, expect, it } from "vitest";
import { rowOf } from "../../../scripts/serve/processes";
import { listeningSockets } from "./listening-sockets";
import { familyOf } from "./processes";
import { removeFolder, temporaryFolder } from "./server";
import { serverForTests } from "./server-for-tests";
import { attacks, exchange, FORGED, placeOf } from "./side-doors";

/** One word: a page with it in colours would divide others. */
const SECRET = "zebracrossing";

export function expectNoSideDoor(args: readonly string[], { secure = false } = {}): void {
  const server = serverForTests(args, { secure });
  const folder = temporaryFolder();
  const [secretFile, written] = [join(folder, "secret.txt"), join(folder, "written")];
  writeFileSync(secretFile, SECRET);
  afterAll(() => removeFolder(folder));
  const processes = () => familyOf(rowOf(server.runtimePid)?.parent ?? 0).map(({ pid }) => pid);

  it("listens on the advertised port, and besides on Unix sockets in folders of its user alone", () => {
    const sockets = listeningSockets(processes());
    expect(processes().length).toBeGreaterThan(1);
    const { port } = new URL(server.url);
    expect(sockets.filter(({ kind }) => kind !== "unix")).toEqual([{ kind: "tcp", address: expect.stringMatching(`:${port}$`) as string }]);
    const paths = sockets.filter(({ kind }) => kind === "unix").map(({ address }) => address);
    for (const path of paths) {
      const { mode, uid } = statSync(dirname(path));
      expect([path, (mode & 0o777).toString(8), uid]).toEqual([expect.stringMatching(/^\//), "700", process.getuid?.()]);
    }
  });

  it("requests that Miniflare's sockets obey: nothing is read, written, ended or forged, on any of its sockets", async () => {
    const before = processes();
    const sockets = listeningSockets(before);
    const places = sockets.flatMap((socket) => {
      const place = placeOf(socket);
      const plain = [`${socket.kind} ${socket.address}`, () => connect(place)] as const;
      const { host, port } = placeOf({ kind: "tcp", address: new URL(server.url).host }) as TcpNetConnectOpts;
      const tls = ["TLS", () => connectTls({ host, port, ca: server.ca })] as const;
      return secure && socket.kind === "tcp" ? [plain, tls] : [plain];
    });
    const tried = places.flatMap(([place, open]) =>
      Object.entries(attacks(secretFile, written)).map(async ([name, text]) => [place, name, await exchange(open(), text)] as const),
    );
    const answers = await Promise.all(tried);
    expect(answers.filter(([, , answer]) => /^HTTP\/1\.[01] [12]/.test(answer) || answer.includes(SECRET))).toEqual([]);
    // Each of them was read: a server that answers nobody would pass, too.
    expect(answers.filter(([place, , answer]) => /TLS|unix/.test(place) && !answer.startsWith("HTTP/1.1 "))).toEqual([]);
    expect(existsSync(written)).toBe(false);
    expect(server.output()).not.toContain(FORGED);
    expect(processes()).toEqual(before);
    expect(listeningSockets(before)).toEqual(sockets);
  });
}

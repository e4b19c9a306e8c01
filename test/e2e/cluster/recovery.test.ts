/** `npm run restore -- --recover`: what the command says where there is point-in-time recovery, and on a local server. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { clusterForTests } from "../../support/server/cluster-for-tests";
import { runProgramHere } from "../../support/server/program";

const TIME = ["--as-of", "2026-11-30T11:45:00Z"];
const cluster = clusterForTests();

it("a local server: one line, exit code 2", async () => {
  const { code, out, err } = await runProgramHere("restore", ["--kubeconfig", cluster.kubeconfig, "--recover", "services", ...TIME]);
  expect({ code, out, err }).toEqual({
    code: 2,
    out: "",
    err: "restore: services was not brought back: 405 point-in-time recovery is Cloudflare's: a local server has none\n",
  });
});

it("a deployment: each object in its turn, with its way back at once; one that refuses ends the command; stores begin above what clients have seen", async () => {
  const asked: unknown[] = [];
  let isAbove = true;
  let doubt: object = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { object: string; resources?: string[] };
      asked.push([request.method, request.url, body]);
      if (body.resources) {
        const revisions = Object.fromEntries(body.resources.map((name) => [name, "1000004711"]));
        response.writeHead(isAbove ? 200 : 400, { "Content-Type": "application/json" });
        return response.end(JSON.stringify(isAbove ? { revisions } : { kind: "Status", message: "no revisions are left" }));
      }
      const isKnown = body.object !== "leases.coordination.k8s.io";
      response.writeHead(isKnown ? 200 : 400, { "Content-Type": "application/json" });
      return response.end(
        JSON.stringify(isKnown ? { ...body, undo: "0001-0002", ...doubt } : { kind: "Status", message: "older than 30 days" }),
      );
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = ["--server", `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`];
  const names = "services,leases.coordination.k8s.io,pods";
  const { code, out, err } = await runProgramHere("restore", [...target, "--recover", names, ...TIME]);
  expect({ code, out, err }).toEqual({
    code: 2,
    out: "services goes back; the way back: --recover services --bookmark 0001-0002\n",
    err: "restore: leases.coordination.k8s.io was not brought back: 400 older than 30 days\n",
  });
  const whole = await runProgramHere("restore", [...target, "--recover", "services,controllers/repair", ...TIME]);
  const ways = ["services", "controllers/repair"].map((one) => `${one} goes back; the way back: --recover ${one} --bookmark 0001-0002\n`);
  expect(whole).toMatchObject({ code: 0, out: `${ways.join("")}services begins at 1000004711\n` });
  isAbove = false;
  const cut = await runProgramHere("restore", [...target, "--recover", "services", ...TIME]);
  expect(cut).toMatchObject({
    code: 2,
    err: expect.stringMatching(/400 no revisions are left\nwhen that is mended: --recovered services --as-of 2026/),
  });
  const back = await runProgramHere("restore", [...target, "--recover", "services", "--bookmark", "0001-0002", "--output", "json"]);
  expect(back).toMatchObject({ code: 0, out: '{"object":"services","undo":"0001-0002"}\n' });
  const untold = asked.length;
  doubt = { doubted: false };
  const unsure = await runProgramHere("restore", [...target, "--recover", "controllers/repair,leases.coordination.k8s.io", ...TIME]);
  expect(unsure).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /400 older than 30 days\ncontrollers\/repair has gone back, and may take .*\nwhen it answers: --recovered all --as-of TIME\n$/,
    ),
  });
  asked.splice(untold);
  server.close();
  const time = "2026-11-30T11:45:00.000Z";
  const goesBack = (object: string) => ["POST", "/recoveries", { object, time }];
  const begins = ["POST", "/revisions", { asOf: time, resources: ["services"] }];
  expect(asked).toEqual([
    ...[goesBack("services"), goesBack("leases.coordination.k8s.io"), begins],
    ...[goesBack("services"), goesBack("controllers/repair"), begins],
    ...[goesBack("services"), begins],
    ["POST", "/recoveries", { object: "services", bookmark: "0001-0002" }],
  ]);
});

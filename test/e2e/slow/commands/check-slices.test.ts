/** `npm run check` on EndpointSlices whose table was damaged, and after the controller has written them again. */
import { expect, it } from "vitest";
import type { CheckOutcome } from "../../../../scripts/check/run";
import { Api } from "../../../support/clients/api";
import { runningPod } from "../../../support/clients/running-pod";
import { configWithoutCrons } from "../../../support/server/own-config";
import { damageData } from "../../../support/server/damage";
import { runProgram } from "../../../support/server/program";
import { NODES_ARE_NAMES, serverForTests } from "../../../support/server/server-for-tests";

const NAMESPACE = "/api/v1/namespaces/default";
const server = serverForTests(["--config", configWithoutCrons(), ...NODES_ARE_NAMES]);
const api = new Api(() => server.url);

async function check(): Promise<{ code: number | null; lines: string[] }> {
  const { code, out, err } = await runProgram("check", ["--server", server.url, "--output", "json"]);
  expect(err).toBe("");
  const { wrong, notices, unchecked } = JSON.parse(out) as CheckOutcome;
  expect([notices, unchecked]).toEqual([[], []]);
  return { code, lines: wrong.map(({ rule, objects, message }) => `${rule}: ${objects.join()}: ${message}`).sort() };
}

// A finding about slices counts when it has lasted for twenty seconds.
it(
  "a slice with an address that no Pod has: what is missing and what is too much is named, until a change of a Pod mends it",
  { timeout: 180_000 },
  async () => {
    await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "n1" } } });
    const spec = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
    await api.must("POST", `${NAMESPACE}/services`, { body: { metadata: { name: "web" }, spec } });
    await runningPod(api, "a", "10.244.0.1");
    await runningPod(api, "b", "10.244.0.2");
    expect(await check()).toEqual({ code: 0, lines: [] });

    await server.stop();
    await damageData(server.folder, [
      {
        class: "ResourceStore",
        name: "default/endpointslices.discovery.k8s.io",
        sql: "UPDATE objects SET data = replace(data, ?, ?) WHERE key LIKE 'default/web-%'",
        values: ['"10.244.0.1"', '"10.244.0.9"'],
      },
    ]);
    await server.start();
    const { code, lines } = await check();
    const endpoint = (ip: string) =>
      expect.stringMatching(new RegExp(`${ip} of Pod a \\(.+\\), ports 8080/TCP, node n1, ready, serving`)) as string;
    expect([code, lines]).toEqual([1, [endpoint("has the endpoint 10\\.244\\.0\\.9"), endpoint("lacks the endpoint 10\\.244\\.0\\.1")]]);
    for (const line of lines) expect(line).toMatch(/^slice: Service default\/web: default\/web /);

    await runningPod(api, "c", "10.244.0.3");
    expect(await check()).toEqual({ code: 0, lines: [] });
  },
);

/** `npm run cluster`: clusters of a running server. */
import { expect, it } from "vitest";
import { runProgram } from "../../../support/server/program";
import { getJson } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const server = serverForTests();
const cluster = (...args: string[]) => runProgram("cluster", [...args, "--server", server.url]);

it("a cluster: made once with its ranges, listed, and deleted to its end", async () => {
  const url = `${server.url}/clusters/blue`;
  expect(await cluster("create", "blue", "--service-cidr", "10.7.0.0/16")).toEqual({ code: 0, out: `blue is made: ${url}\n`, err: "" });
  expect(await cluster("create", "blue")).toEqual({ code: 0, out: `blue is there already: ${url}\n`, err: "" });
  expect(await getJson(url)).toMatchObject({ serviceCIDRs: ["10.7.0.0/16"] });
  const table = await cluster("list");
  expect(table.code).toBe(0);
  expect(table.out).toMatch(/^NAME +PHASE +LOCATION +CREATED +URL\n/);
  expect(table.out).toMatch(new RegExp(`^blue +Active +- +\\d{4}-\\S+ +${url}$`, "m"));
  const json = await cluster("list", "--output", "json");
  expect((JSON.parse(json.out) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(["blue", "default"]);
  expect(await cluster("delete", "blue")).toEqual({ code: 0, out: "blue has ended\n", err: "" });
  expect((await fetch(url)).status).toBe(404);
});

it("a deletion without a wait: begun, exit code 0", async () => {
  await cluster("create", "red");
  const { code, out } = await cluster("delete", "red", "--wait", "0", "--output", "json");
  expect([code, JSON.parse(out)]).toEqual([0, { name: "red", state: "begun" }]);
});

it.each([
  [["delete", "nobody"], /^cluster: delete nobody: http\S+ refuses: 404 clusters "nobody" not found/],
  [["delete", "default"], /^cluster: delete default: http\S+ refuses: 403 /],
  [["create", "odd", "--service-cidr", "10.0.0.0/31"], /^cluster: create odd: http\S+ refuses: 422 /],
])("%j: the server's own words in one line, exit code 1", async (args, line) => {
  const { code, out, err } = await cluster(...args);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(line);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});

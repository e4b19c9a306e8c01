/** What `npm run deploy` does behind wrangler: the cluster `default` of the deployment. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { deployedUrl, howToMake, makeDefaultCluster, type Sending } from "../../../scripts/deploy/default-cluster";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));
const URL = "https://servicenet.example.workers.dev";

function urlIn(...reports: object[]): string | undefined {
  const path = join(folder, "report");
  writeFileSync(path, reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
  return deployedUrl(path);
}

/** Answers with these codes, one a request, and an error for 0. */
function answering(...codes: number[]) {
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const sending: Sending = {
    fetch: (url, { method = "", headers, body }) => {
      bodies.push(body);
      asked.push(`${method} ${url} ${(headers as Record<string, string>)["Authorization"] ?? ""}`);
      const code = codes.shift() ?? 500;
      return code === 0 ? Promise.reject(new Error("no such host")) : Promise.resolve(new Response("text", { status: code }));
    },
    pause: () => Promise.resolve(),
  };
  return { asked, bodies, made: (location?: string) => makeDefaultCluster(URL, "secret", { ...sending, location }) };
}

describe("the address of a deployment", () => {
  it("wrangler's report: its first whole address", () => {
    const session = { type: "wrangler-session", version: 1 };
    expect(urlIn(session, { type: "deploy", targets: ["example.com/*", `${URL}/`, "https://b"] })).toBe(URL);
    expect(urlIn(session, { type: "deploy", targets: ["https://*.example.com/x", "schedule: * * * * *"] })).toBeUndefined();
    expect(urlIn(session)).toBeUndefined();
    expect(deployedUrl(join(folder, "absent"))).toBeUndefined();
  });
});

describe("the cluster default", () => {
  it("made: told; there already: silent", async () => {
    const { asked, made } = answering(201, 200);
    expect(await made()).toEqual({ text: "The cluster default was made.", isThere: true });
    expect(await made()).toEqual({ text: "", isThere: true });
    expect(asked).toEqual(Array(2).fill(`PUT ${URL}/clusters/default Bearer secret`));
  });

  it("a place: asked for; one that is elsewhere stays, and the answer is shown at once", async () => {
    const { bodies, made } = answering(201, 422, 201);
    expect(await made("weur")).toMatchObject({ isThere: true });
    const refused = await made("weur");
    expect(bodies).toEqual(Array(2).fill('{"location":"weur"}'));
    expect(refused.isThere).toBe(false);
    expect(refused.text).toContain(`-H "Content-Type: application/json" -d '{"location":"weur"}' ${URL}/clusters/default`);
    await made();
    expect(bodies.at(-1)).toBeUndefined();
  });

  it("an address that is not known yet: asked again", async () => {
    expect(await answering(0, 404, 503, 201).made()).toMatchObject({ isThere: true });
  });

  it("a token that does not count: says how to make it, at once", async () => {
    const { asked, made } = answering(401, 201);
    expect(await made()).toEqual({ text: `The cluster default could not be made: 401 text\n${howToMake(URL)}`, isThere: false });
    expect(asked).toHaveLength(1);
  });
});

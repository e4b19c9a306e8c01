/** The cluster `default` of a deployment: `npm run deploy` makes it, where `--location` says or near whoever deploys. What is there stays. */
import { readIfThere } from "../serve/private-file";

/** A new address takes a moment to be known. */
const ATTEMPTS = 10;
const APART_MS = 3_000;
const ANSWER_MS = 30_000;

/** What wrangler reports, a line of JSON each. Source: wrangler's output file, WRANGLER_OUTPUT_FILE_PATH. */
interface Report {
  type?: string;
  targets?: unknown;
}

/** The first address of the deployment that wrangler's report names; undefined = none, as of a dry run or of routes alone. */
export function deployedUrl(reportPath: string): string | undefined {
  const reports = (readIfThere(reportPath) ?? "").split("\n").filter((line) => line !== "");
  for (const line of reports) {
    const { type, targets } = JSON.parse(line) as Report;
    if (type !== "deploy" || !Array.isArray(targets)) continue;
    const url = targets.find((target): target is string => typeof target === "string" && /^https?:\/\/[^\s*]+$/.test(target));
    if (url !== undefined) return url.replace(/\/$/, "");
  }
  return undefined;
}

/** How somebody with an administrator's token makes the cluster. `location`: where; undefined = near whoever does. */
export function howToMake(url: string, location?: string): string {
  const where = location === undefined ? "" : ` -H "Content-Type: application/json" -d '${JSON.stringify({ location })}'`;
  return `The cluster default is there once an administrator has made it:\n  curl -X PUT -H "Authorization: Bearer TOKEN"${where} ${url}/clusters/default`;
}

export interface Sending {
  fetch(url: string, init: RequestInit): Promise<Response>;
  pause(ms: number): Promise<void>;
}

/** Makes the cluster unless it is there. Answers what to print, and whether it is there. Never rejects. */
export async function makeDefaultCluster(
  url: string,
  token: string,
  { fetch, pause, location }: Sending & { location?: string | undefined },
): Promise<{ text: string; isThere: boolean }> {
  let problem = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(APART_MS);
    try {
      const asked = location === undefined ? {} : { body: JSON.stringify({ location }) };
      const headers = { Authorization: `Bearer ${token}`, ...(location === undefined ? {} : { "Content-Type": "application/json" }) };
      const init = { method: "PUT", headers, ...asked, signal: AbortSignal.timeout(ANSWER_MS) };
      const response = await fetch(`${url}/clusters/default`, init);
      if (response.ok) return { text: response.status === 201 ? "The cluster default was made." : "", isThere: true };
      problem = `${String(response.status)} ${(await response.text()).slice(0, 200)}`;
      if ([400, 401, 403, 409, 422].includes(response.status)) break;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  return { text: `The cluster default could not be made: ${problem}\n${howToMake(url, location)}`, isThere: false };
}

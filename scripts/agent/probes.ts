/** Probes of the machine's own processes. Each is a connection of its own, as the kubelet's are. */
import { lookup as systemLookup } from "node:dns";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { type HttpAnswer, type ProbePorts, REDIRECTS } from "../../src/clients/agent/index";
import { boundedLookup } from "./bounded-lookup";

const lookup = boundedLookup(systemLookup);

export const probes: ProbePorts = {
  httpGet: (url, headers, timeoutMs) =>
    new Promise((resolve, reject) => {
      const target = new URL(url);
      const send = target.protocol === "https:" ? httpsRequest : httpRequest;
      const asked = send(target, { agent: false, headers, lookup, rejectUnauthorized: false, signal: AbortSignal.timeout(timeoutMs) });
      asked.on("error", (error) => reject(error.name === "AbortError" ? new Error(lateText(timeoutMs)) : error));
      asked.on("response", (response) => {
        const { statusCode = 0, headers: answered } = response;
        try {
          resolve({ status: statusCode, ...(REDIRECTS.includes(statusCode) && redirectOf(answered.location, target)) });
        } catch {
          reject(new Error(`the answer redirects to ${String(answered.location)}`));
        }
        // Nobody reads the body.
        asked.destroy();
      });
      asked.end();
    }),

  tcpConnect: (host, port, timeoutMs) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, lookup, signal: AbortSignal.timeout(timeoutMs) });
      socket.on("error", (error) => reject(error.name === "AbortError" ? new Error(lateText(timeoutMs)) : error));
      socket.on("connect", () => {
        resolve();
        socket.destroy();
      });
    }),
};

function lateText(timeoutMs: number): string {
  return `no answer within ${String(timeoutMs)} ms`;
}

/** Throws for a Location that is no HTTP URL. */
function redirectOf(location: string | undefined, from: URL): Pick<HttpAnswer, "redirect"> {
  if (location === undefined) return {};
  const url = new URL(location, from);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("no HTTP");
  return { redirect: { url: url.href, leavesHost: url.hostname !== from.hostname } };
}

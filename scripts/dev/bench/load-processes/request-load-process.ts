/** The load generator as a process: GETs of one path of any HTTP server, as a RequestLoad on stdin says; prints how long they took. */
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, runLoad } from "./load";

export interface RequestLoad {
  target: Target;
  connections: number;
  count: number;
}

const load = givenLoad<RequestLoad>();
const request = `${requestHeads(load.target)("GET", "/")}\r\n`;
const onAnswer = (_: number, status: number): void => {
  if (status !== 200) throw new Error(`a request was answered with ${String(status)}`);
};
const { elapsedMs } = await runLoad({ ...load, requestOf: () => request, onAnswer });
process.stdout.write(JSON.stringify({ elapsedMs }));

/** `npm start`: serves Servicenet on this machine until Ctrl-C. */
import { shownPath } from "../folders/user-path";
import { npmAbove } from "../serve/npm-above";
import { parseOptions, usage } from "../serve/options";
import { isEveryAddress } from "../serve/own-names";
import { ownSignals } from "../serve/signals";
import { callOf } from "../terminal/call";
import { runProgram } from "../terminal/command-line";

const NPM_INTERVAL_MS = 500;
const npm = npmAbove();

const code = await runProgram({
  name: "servicenet",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { serve } = await import("../serve/server");
    const stopped = new AbortController();
    ownSignals(() => stopped.abort());
    setInterval(() => npm.isGone() && stopped.abort(), NPM_INTERVAL_MS).unref();
    return serve(options, stopped.signal, {
      ready: ({ url, host, folder }) => {
        const where = isEveryAddress(host) ? ` and at every address of this machine (${host})` : "";
        const ready = `Servicenet is ready at ${url}${where} (data in ${shownPath(folder.path)}, Ctrl-C stops)`;
        // In one write: a reader of one line has the other, too.
        console.log(`${ready}\nTry: kubectl --kubeconfig ${shownPath(folder.kubeconfigPath)} create service clusterip hello --tcp=80`);
      },
      stopped: (folder) => console.log(`Stopped. The data is kept in ${shownPath(folder.path)}; ${callOf("serve")} goes on with it.`),
    });
  },
});
// Nothing that is still open may keep the process alive.
process.exit(code);

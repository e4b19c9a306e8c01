/** `npm run dns`: keeps a file of hosts with the names of a cluster's Services, for dnsmasq and other small name servers. */
import { parseOptions, usage } from "../dns/options";
import { shownPath } from "../folders/user-path";
import { runProgram } from "../terminal/command-line";

const code = await runProgram({
  name: "dns",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { assertReplaceable, keepHostsFile } = await import("../dns/hosts-file");
    assertReplaceable(options.file);
    return new Promise<number>((resolve, reject) => {
      const stop = keepHostsFile(options, {
        onFirst: () => console.log(`The names of the Services are in ${shownPath(options.file)} (Ctrl-C stops)`),
        onTrouble: (line) => console.error(`dns: ${line}`),
        onFailure: reject,
      });
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.once(signal, () => {
          stop();
          resolve(0);
        });
      }
    });
  },
});
process.exit(code);

/** `npm run proxy`: a small data plane for laptops, demonstrations and tests. */
import { parseOptions, usage } from "../proxy/options";
import { runProgram } from "../terminal/command-line";

const code = await runProgram({
  name: "proxy",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { startProxy } = await import("../proxy/run");
    const proxy = await startProxy(options, (line) => console.error(`proxy: ${line}`));
    const stopped = new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
    });
    const first = await Promise.race([proxy.first, stopped]);
    if (first) {
      const { healthzUrl = "nowhere", metricsUrl = "nowhere" } = proxy;
      const counts = `Services with endpoints: ${String(first.services)}, listeners: ${String(first.listeners)}`;
      console.log(`The proxy of ${options.node} is ready (${counts}, healthz ${healthzUrl}, metrics ${metricsUrl}, Ctrl-C stops)`);
    }
    await stopped;
    proxy.stop();
    return 0;
  },
});
process.exit(code);

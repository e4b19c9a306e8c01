/** Cron triggers. Cloudflare fires them in production; locally the runner does. */
import { Cron } from "croner";

/**
 * Fires each expression at its minutes (UTC; 5 fields, weekday 1 = Sunday as on Cloudflare) until `stop` is called.
 * `fire` gets the expression and the full minute that is due, in milliseconds since the epoch.
 */
export function startCrons(expressions: readonly string[], fire: (cron: string, scheduledTime: number) => void): { stop(): void } {
  const jobs = expressions.map(
    (expression) =>
      new Cron(expression, { timezone: "UTC", mode: "5-part", alternativeWeekdays: true, unref: true }, () => {
        fire(expression, Math.floor(Date.now() / 60_000) * 60_000);
      }),
  );
  return {
    stop: () => {
      for (const job of jobs) job.stop();
    },
  };
}

/** The command `servicenet`: all programs for users as its subcommands. */
import { becomeSubcommands } from "../terminal/call";
import { UserError } from "../terminal/user-error";

becomeSubcommands();
try {
  const { runServicenet } = await import("../servicenet/program");
  await runServicenet();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(`servicenet: ${error.message}`);
  process.exitCode = 1;
}

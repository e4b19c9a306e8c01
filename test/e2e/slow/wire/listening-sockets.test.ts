/** The sockets of a server with HTTPS, and of one that listens on other addresses (the quick test has the usual one of plain HTTP). */
import { describe } from "vitest";
import { expectNoSideDoor } from "../../../support/server/expect-no-side-door";

describe.each([
  { args: [], secure: true },
  { args: ["--host", "::1"], secure: false },
  { args: ["--host", "localhost"], secure: false },
  { args: ["--host", "0.0.0.0"], secure: true },
  { args: ["--host", "::"], secure: true },
])("npm start with $args, secure: $secure", ({ args, secure }) => expectNoSideDoor(args, { secure }));

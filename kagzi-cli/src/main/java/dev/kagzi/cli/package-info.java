/**
 * The command line. Each command is a class that says its own usage; {@link dev.kagzi.cli.Main}
 * lists them. What asks a server is a {@link dev.kagzi.cli.RemoteCommand} in a {@link
 * dev.kagzi.cli.CommandGroup}.
 *
 * <p>Standard output carries what was asked for, and nothing else, so that it can be piped; logs
 * and complaints go to standard error. An expected failure is one line and an {@link
 * dev.kagzi.cli.ExitCode}. A server that was stopped by Ctrl-C or by SIGTERM has done its duty:
 * exit code 0.
 */
@NullMarked
package dev.kagzi.cli;

import org.jspecify.annotations.NullMarked;

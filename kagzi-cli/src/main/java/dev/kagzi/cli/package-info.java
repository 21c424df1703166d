/**
 * The command line. Each command is a class that declares its own usage; {@link dev.kagzi.cli.Main}
 * runs them. Most commands call a server: they extend {@link dev.kagzi.cli.RemoteCommand}. A {@link
 * dev.kagzi.cli.CommandGroup} has subcommands.
 *
 * <p>Standard output has only the requested data, so that it can be piped; logs and errors go to
 * standard error. An expected failure is one line and an {@link dev.kagzi.cli.ExitCode}. A server
 * that is stopped by Ctrl-C or SIGTERM exits with 0.
 */
@NullMarked
package dev.kagzi.cli;

import org.jspecify.annotations.NullMarked;

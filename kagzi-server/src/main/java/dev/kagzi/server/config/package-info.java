/**
 * The options of a server: names, types, units, ranges and defaults.
 *
 * <p>{@link dev.kagzi.server.config.ServerOption} is the one list of them; the names in the command
 * line, the environment, the file and the documentation are derived from it. {@link
 * dev.kagzi.server.config.Settings} holds the resolved values. Unknown names are rejected:
 * otherwise a typing error would silently leave a default in place.
 *
 * <p>Must not use other packages of the server, which read their configuration from here.
 */
@NullMarked
package dev.kagzi.server.config;

import org.jspecify.annotations.NullMarked;

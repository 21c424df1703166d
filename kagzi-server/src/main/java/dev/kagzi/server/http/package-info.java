/**
 * The HTTP edge: what people and their tools look at in a browser or with curl. It is up before the
 * database is, so that whoever waits for the server can ask why it is not ready.
 *
 * <p>Like the gRPC edge it translates and decides nothing.
 */
@NullMarked
package dev.kagzi.server.http;

import org.jspecify.annotations.NullMarked;

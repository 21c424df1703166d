/**
 * The engine: durable runs on PostgreSQL. {@link dev.kagzi.engine.Engine} creates and connects the
 * components. Each package is one concept with its types, its SQL and its service. What other
 * modules use is in {@code dev.kagzi.engine} and the packages below; everything else is in {@code
 * dev.kagzi.engine.internal}, under the same concept, and no other module may use it.
 *
 * <p>Knows no gRPC and no HTTP, and does not interpret the payloads of users.
 */
@NullMarked
package dev.kagzi.engine;

import org.jspecify.annotations.NullMarked;

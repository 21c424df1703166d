/**
 * The engine: durable runs on PostgreSQL. {@link dev.kagzi.engine.Engine} creates and connects the
 * components. Each package is one concept with its types, its SQL and its service.
 *
 * <p>Knows no gRPC and no HTTP, and does not interpret the payloads of users.
 */
@NullMarked
package dev.kagzi.engine;

import org.jspecify.annotations.NullMarked;

/**
 * The engine: durable runs on PostgreSQL. {@link dev.kagzi.engine.Engine} puts the rooms together;
 * each room is a concept with its types, its SQL and its service.
 *
 * <p>Knows no gRPC, no HTTP, and nothing of what users store in payloads.
 */
@NullMarked
package dev.kagzi.engine;

import org.jspecify.annotations.NullMarked;

/** The configuration of an engine. {@link dev.kagzi.engine.EngineConfig} combines it. */
@NullMarked
package dev.kagzi.engine.config;

import org.jspecify.annotations.NullMarked;

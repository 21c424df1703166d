/** Workers: registration, heartbeats and Attach streams. */
@NullMarked
package dev.kagzi.engine.worker;

import org.jspecify.annotations.NullMarked;

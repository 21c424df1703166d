/**
 * The coordinator: periodic duties that keep things moving when something was lost. Every duty is
 * safe on all servers at once and does its work in bounded batches.
 */
@NullMarked
package dev.kagzi.engine.chore;

import org.jspecify.annotations.NullMarked;

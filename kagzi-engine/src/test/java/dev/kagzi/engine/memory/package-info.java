@org.jspecify.annotations.NullMarked
package dev.kagzi.engine.memory;

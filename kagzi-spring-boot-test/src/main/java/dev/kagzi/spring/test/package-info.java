/**
 * Tests of Spring Boot applications: {@link dev.kagzi.spring.test.KagziTest} starts the context
 * with a server and a clock of its own.
 */
@NullMarked
package dev.kagzi.spring.test;

import org.jspecify.annotations.NullMarked;

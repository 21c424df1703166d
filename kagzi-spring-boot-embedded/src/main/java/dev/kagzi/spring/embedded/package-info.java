/**
 * A Kagzi server inside a Spring Boot application. It uses the application's database, with
 * connections of its own, or an embedded PostgreSQL while developing.
 */
@NullMarked
package dev.kagzi.spring.embedded;

import org.jspecify.annotations.NullMarked;

package dev.kagzi.sdk;

import java.time.Duration;

/**
 * The answer of a server to {@link Kagzi#ping}.
 *
 * @param address of the server that has answered
 * @param serverVersion its version
 * @param roundTrip how long it took, with the time to connect if there was no connection yet
 */
public record PingResult(String address, String serverVersion, Duration roundTrip) {}

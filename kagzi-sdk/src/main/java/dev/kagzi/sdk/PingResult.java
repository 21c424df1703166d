package dev.kagzi.sdk;

import java.time.Duration;

/**
 * The response of a server to {@link Kagzi#ping}.
 *
 * @param address address of the server that answered
 * @param serverVersion its version
 * @param roundTrip duration of the call, including the time to connect if there was no connection
 */
public record PingResult(String address, String serverVersion, Duration roundTrip) {}

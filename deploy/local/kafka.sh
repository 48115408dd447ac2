#!/usr/bin/env bash
# Apache Kafka on one machine without Docker: a single KRaft node from Maven Central's jars, for tests and trials.
# Needs Java 17 or newer and Maven 3.8 or newer; nothing of this machine's configuration goes into the jars' folder.
#
#   kafka.sh jars     fetch the jars of KAFKA_VERSION, once
#   kafka.sh run      format the data folder where needed and run in the foreground (Ctrl-C or SIGTERM stops it)
#   kafka.sh start    the same in the background; returns when the port is open
#   kafka.sh stop     stop what `start` began, and wait for its end
#   kafka.sh wipe     forget all data
#
# KAFKA_PROPERTIES names a file of further broker settings (listeners with TLS or a login, say), in which CONTROLLER_PORT
# stands for the port of that name; KAFKA_FORMAT_OPTIONS are
# added to the formatting of the data folder (`--add-scram ...`), KAFKA_JAVA_OPTIONS to the broker's own command.
set -euo pipefail

VERSION=${KAFKA_VERSION:-4.4.0}
PORT=${KAFKA_PORT:-9092}
CONTROLLER_PORT=${KAFKA_CONTROLLER_PORT:-$((PORT + 1))}
FOLDER=$(realpath -m "${KAFKA_FOLDER:-$(dirname "$0")/../../var/kafka}")
DATA=$(realpath -m "${KAFKA_DATA:-$FOLDER/data}")
JARS=$FOLDER/jars-$VERSION
CLUSTER=MkU3OEVBNTcwNTJENDM2Qk
LOG4J2=2.24.3
mkdir -p "$FOLDER" "$DATA"

dependency() {
    echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version>${4:-}</dependency>"
}

# The broker's pom asks for a part of the command line tools that is not published for every version.
WITHOUT_TOOLS='<exclusions><exclusion><groupId>org.apache.kafka</groupId><artifactId>kafka-tools-api</artifactId>
    </exclusion></exclusions>'

# Kafka's own pom names no logging backend: 4.x logs through log4j 2, 3.x through reload4j.
logging_dependencies() {
    case $VERSION in
        3.*) dependency org.slf4j slf4j-reload4j 1.7.36 ;;
        *) for part in log4j-slf4j-impl log4j-core log4j-api log4j-1.2-api; do
               dependency org.apache.logging.log4j $part $LOG4J2
           done ;;
    esac
}

# Several may start at once, as the processes of a test run do: one fetches, the others wait for it.
jars() {
    [ -f "$JARS/.complete" ] && return
    exec 9> "$FOLDER/jars.lock"
    if command -v flock > /dev/null; then flock 9; fi
    [ -f "$JARS/.complete" ] || fetch
    exec 9>&-
}

fetch() {
    local work; work=$(mktemp -d)
    cat > "$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>$(dependency org.apache.kafka kafka_2.13 "$VERSION" "$WITHOUT_TOOLS")$(logging_dependencies)</dependencies>
</project>
POM
    mvn -B -q -f "$work/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$work/jars" >&2
    ls "$work/jars/kafka_2.13-$VERSION.jar" "$work/jars/kafka-clients-$VERSION.jar" > /dev/null
    touch "$work/jars/.complete"
    rm -rf "$JARS"
    mv -T "$work/jars" "$JARS"
    rm -rf "$work"
}

write_logging() {
    cat > "$DATA/log4j.properties" <<'LOG'
log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
LOG
    cat > "$DATA/log4j2.properties" <<'LOG'
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
LOG
}

# A test machine's broker: one copy of everything, small pools, quick group joins. Offsets are kept for a year, longer
# than any topic (30 days), so that a group that was away does not start from the beginning.
write_server() {
    cat > "$DATA/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$CONTROLLER_PORT
listeners=PLAINTEXT://127.0.0.1:$PORT,CONTROLLER://127.0.0.1:$CONTROLLER_PORT
advertised.listeners=PLAINTEXT://${KAFKA_ADVERTISED:-127.0.0.1:$PORT}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs=$DATA/log
auto.create.topics.enable=false
default.replication.factor=1
min.insync.replicas=1
offsets.retention.minutes=525600
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
num.network.threads=2
num.io.threads=4
background.threads=2
log.cleaner.dedupe.buffer.size=8388608
CONF
    [ -z "${KAFKA_PROPERTIES:-}" ] || sed "s/CONTROLLER_PORT/$CONTROLLER_PORT/" "$KAFKA_PROPERTIES" >> "$DATA/server.properties"
}

java_command() {
    JAVA=("${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
        -Djava.awt.headless=true -Dlog4j.configuration="file:$DATA/log4j.properties"
        -Dlog4j2.configurationFile="$DATA/log4j2.properties" ${KAFKA_JAVA_OPTIONS:-} -cp "$JARS/*")
}

prepare() {
    jars
    write_logging
    write_server
    java_command
    [ -f "$DATA/log/meta.properties" ] ||
        "${JAVA[@]}" kafka.tools.StorageTool format -t "$CLUSTER" -c "$DATA/server.properties" ${KAFKA_FORMAT_OPTIONS:-} >&2
}

is_open() { (exec 3<> "/dev/tcp/127.0.0.1/$PORT") 2> /dev/null; }

start() {
    "$0" jars
    nohup "$0" run > "$DATA/kafka.log" 2>&1 &
    local pid=$!
    echo "$pid" > "$DATA/kafka.pid"
    for _ in $(seq 240); do
        if is_open; then echo "Kafka $VERSION on 127.0.0.1:$PORT, process $pid"; return; fi
        kill -0 "$pid" 2> /dev/null || break
        sleep 0.25
    done
    tail -40 "$DATA/kafka.log" >&2
    return 1
}

stop() {
    local pid; pid=$(cat "$DATA/kafka.pid")
    kill "$pid" 2> /dev/null || true
    while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
    rm -f "$DATA/kafka.pid"
}

case ${1:-} in
    jars) jars ;;
    run) prepare; exec "${JAVA[@]}" kafka.Kafka "$DATA/server.properties" ;;
    start) start ;;
    stop) stop ;;
    wipe) rm -rf "$DATA" ;;
    *) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

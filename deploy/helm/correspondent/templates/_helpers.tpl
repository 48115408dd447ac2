{{- define "correspondent.name" -}}
{{ printf "%s-%s" .root.Release.Name (.name | replace "_" "-") | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "correspondent.selector" -}}
app.kubernetes.io/name: correspondent
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name | replace "_" "-" }}
{{- end }}

{{- define "correspondent.labels" -}}
{{ include "correspondent.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "correspondent.claim" -}}
{{ .Values.blobs.existingClaim | default (printf "%s-blobs" .Release.Name) }}
{{- end }}

{{/* One process of the house, as a Deployment: `root`, `name`, `replicas` (none where KEDA counts), `web`. */}}
{{- define "correspondent.deployment" -}}
{{- $values := .root.Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "correspondent.name" . }}
  labels: {{- include "correspondent.labels" . | nindent 4 }}
spec:
  {{- if .replicas }}
  replicas: {{ .replicas }}
  {{- end }}
  selector:
    matchLabels: {{- include "correspondent.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "correspondent.labels" . | nindent 8 }}
      annotations:
        {{- if $values.monitoring.annotations }}
        prometheus.io/scrape: "true"
        prometheus.io/port: {{ $values.monitoring.port | quote }}
        prometheus.io/path: /metrics
        {{- end }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
      securityContext: {runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
      {{- with $values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name | replace "_" "-" }}
          image: {{ printf "%s:%s" $values.image.repository ($values.image.tag | default .root.Chart.AppVersion) | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: [run, {{ .name }}]
          env:
            - {name: CORRESPONDENT_CONFIG, value: /config/correspondent.toml}
            - {name: CORRESPONDENT_HOME, value: /data}
            - {name: CORRESPONDENT_KAFKA__BROKERS, value: {{ $values.kafka.brokers | quote }}}
            - {name: CORRESPONDENT_KAFKA__REPLICATION, value: {{ $values.kafka.replication | quote }}}
            - {name: CORRESPONDENT_KAFKA__TOPIC_PREFIX, value: {{ $values.kafka.topicPrefix | quote }}}
            - {name: CORRESPONDENT_REDIS_URL, value: {{ $values.redisUrl | quote }}}
            {{- with $values.blobs.url }}
            - {name: CORRESPONDENT_BLOBS__URL, value: {{ . | quote }}}
            - {name: CORRESPONDENT_ARCHIVE__URL, value: {{ printf "%s/archive" (trimSuffix "/" .) | quote }}}
            - name: CORRESPONDENT_MASTER_KEYS
              valueFrom: {secretKeyRef: {name: {{ $values.secret }}, key: CORRESPONDENT_MASTER_KEYS}}
            {{- end }}
            - {name: CORRESPONDENT_MONITORING__HOST, value: 0.0.0.0}
            - {name: CORRESPONDENT_MONITORING__PORT, value: {{ $values.monitoring.port | quote }}}
            {{- if .web }}
            - {name: CORRESPONDENT_WEB__HOST, value: 0.0.0.0}
            - {name: CORRESPONDENT_WEB__PORT, value: {{ $values.web.port | quote }}}
            {{- end }}
          envFrom:
            - secretRef: {name: {{ $values.secret }}}
          ports:
            - {name: monitoring, containerPort: {{ $values.monitoring.port }}}
            {{- if .web }}
            - {name: web, containerPort: {{ $values.web.port }}}
            {{- end }}
          startupProbe:  # migrations and the first rebalance may take minutes
            httpGet: {path: /readyz, port: monitoring}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: {{ $values.monitoring.startupSeconds | div 5 }}
          readinessProbe:
            httpGet: {path: /readyz, port: monitoring}
            periodSeconds: 30
            timeoutSeconds: 5
          livenessProbe:  # never fails because Postgres or Kafka is away
            httpGet: {path: /livez, port: monitoring}
            periodSeconds: 30
            timeoutSeconds: 10
            failureThreshold: 4
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
          volumeMounts:
            - {name: home, mountPath: /data}
            - {name: config, mountPath: /config, readOnly: true}
            {{- if $values.tls.secret }}
            - {name: tls, mountPath: /tls, readOnly: true}
            {{- end }}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: home
          {{- if $values.blobs.url }}
          emptyDir: {}
          {{- else }}
          persistentVolumeClaim: {claimName: {{ include "correspondent.claim" .root }}}
          {{- end }}
        - name: config
          secret: {secretName: {{ $values.config }}}
        {{- with $values.tls.secret }}
        - name: tls
          secret: {secretName: {{ . }}, defaultMode: 0440}
        {{- end }}
        - name: tmp
          emptyDir: {}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}

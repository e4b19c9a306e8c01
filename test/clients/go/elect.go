package main

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	leaseDuration = 3 * time.Second
	renewDeadline = 2 * time.Second
	retryPeriod   = 250 * time.Millisecond
	beatPeriod    = 50 * time.Millisecond
)

// timedLock knows when the last write that succeeded was sent.
type timedLock struct {
	resourcelock.Interface
	sent atomic.Int64
}

func (lock *timedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return lock.write(func() error { return lock.Interface.Create(ctx, record) })
}

func (lock *timedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return lock.write(func() error { return lock.Interface.Update(ctx, record) })
}

func (lock *timedLock) write(write func() error) error {
	now := time.Now().UnixMilli()
	err := write()
	if err == nil {
		lock.sent.Store(now)
	}
	return err
}

// elect takes part in an election for ever. While it leads it prints its identity and the time every beatPeriod. A process that slept through its
// deadline leads no more, whatever it still believes: it prints nothing then.
func elect(config *rest.Config, identity string) {
	lock := &timedLock{Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "elected"},
		Client:     kubernetes.NewForConfigOrDie(config).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}}
	for {
		leaderelection.RunOrDie(context.Background(), leaderelection.LeaderElectionConfig{
			Lock:          lock,
			LeaseDuration: leaseDuration,
			RenewDeadline: renewDeadline,
			RetryPeriod:   retryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					for ctx.Err() == nil {
						if now := time.Now().UnixMilli(); now-lock.sent.Load() < renewDeadline.Milliseconds() {
							say(map[string]any{"leads": identity, "at": now})
						}
						time.Sleep(beatPeriod)
					}
				},
				OnStoppedLeading: func() { say(map[string]any{"stopped": identity, "at": time.Now().UnixMilli()}) },
			},
		})
	}
}

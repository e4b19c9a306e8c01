module servicenet/scripts/upstream

go 1.26
